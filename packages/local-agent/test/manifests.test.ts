// One manifest of each ecosystem, with the traps of real ones, and the facts that its reader must find in it.
import { describe, expect, test } from "vitest";
import { roleOf } from "../src/read/classify.ts";
import type { Manifest } from "../src/read/manifest.ts";
import { readManifests } from "../src/read/manifests.ts";

function read(files: Record<string, string>): Manifest[] {
  const list = Object.keys(files).map((path) => ({ path, sizeBytes: 1, stamp: "", role: roleOf(path) }));
  return readManifests(list, (path) => files[path] ?? null);
}

const dependencies = (manifest: Manifest | undefined): string[] =>
  (manifest?.dependencies ?? []).map(
    ({ name, version, isForDevelopment }) => `${name} ${version}${isForDevelopment ? " (development)" : ""}`,
  );

describe("a pom.xml of Maven", () => {
  const POM = `<?xml version="1.0"?>
<!DOCTYPE project [<!ENTITY own "x">]>
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <!-- <name>Commented</name> -->
  <parent><groupId>org.example</groupId><artifactId>parent</artifactId></parent>
  <artifactId>cache-core</artifactId>
  <name>Cache &amp; Core &own;</name>
  <description><![CDATA[Keeps <b>values</b>
    in memory.]]></description>
  <modules><module>core</module></modules>
  <dependencyManagement><dependencies><dependency>
    <groupId>org.managed</groupId><artifactId>managed</artifactId><version>9</version>
  </dependency></dependencies></dependencyManagement>
  <dependencies>
    <dependency>
      <groupId>org.slf4j</groupId><artifactId>slf4j-api</artifactId><version>2.0.1</version>
      <exclusions><exclusion><groupId>a</groupId><artifactId>excluded</artifactId></exclusion></exclusions>
    </dependency>
    <dependency><groupId>junit</groupId><artifactId>junit</artifactId><version>\${junit.version}</version><scope>test</scope></dependency>
    <dependency><groupId>\${project.groupId}</groupId><artifactId>own</artifactId></dependency>
  </dependencies>
</project>
`;

  test("has its name, its purpose, its modules and its own dependencies", () => {
    const [manifest] = read({ "pom.xml": POM });
    expect(manifest).toMatchObject({
      ecosystem: "Maven",
      name: "Cache & Core &own;",
      description: "Keeps <b>values</b> in memory.",
      isWorkspaceRoot: true,
    });
    expect(dependencies(manifest)).toEqual(["org.slf4j:slf4j-api 2.0.1", "junit:junit  (development)"]);
  });

  test("is called by its artifact if it has no name or a computed one", () => {
    const [computed] = read({ "pom.xml": POM.replace(/<name>Cache.*<\/name>/, "<name>${x}</name>") });
    expect(computed?.name).toBe("cache-core");
    expect(read({ "pom.xml": POM.replace(/<name>Cache.*<\/name>/, "") })[0]?.name).toBe("cache-core");
  });

  test("that is not well-formed says nothing", () => {
    expect(read({ "pom.xml": POM.replace("</modules>", "") })).toEqual([]);
  });
});

test("a project file of .NET has its package, its purpose and its references", () => {
  const [manifest, plain] = read({
    "src/Log.Core/Log.Core.csproj": `<Project Sdk="Microsoft.NET.Sdk">
  <PropertyGroup Condition="'$(Configuration)' == 'Debug'">
    <PackageId>$(Prefix).Core</PackageId>
    <Description>Writes
      structured logs.</Description>
  </PropertyGroup>
  <PropertyGroup><AssemblyName>Log.Core.Assembly</AssemblyName></PropertyGroup>
  <ItemGroup>
    <PackageReference Include="System.Text.Json" Version="8.0.0" />
    <PackageReference Include='Analyzer'><Version>1.2</Version></PackageReference>
    <PackageReference Include="MinVer" Version="$(MinVer)" PrivateAssets="all" />
    <PackageReference Include="System.Text.Json" Version="7.0.0" />
    <ProjectReference Include="../Other/Other.csproj" />
  </ItemGroup>
</Project>`,
    "src/Plain/Plain.fsproj": "<Project></Project>",
  });
  expect(manifest).toMatchObject({
    ecosystem: ".NET",
    name: "Log.Core.Assembly",
    description: "Writes structured logs.",
  });
  expect(dependencies(manifest)).toEqual(["System.Text.Json 8.0.0", "Analyzer 1.2", "MinVer  (development)"]);
  expect(plain).toMatchObject({ name: "Plain", description: "", dependencies: [] });
});

test("a build of Gradle has the name of its settings and its declared dependencies", () => {
  const build = `// description = "commented"
/* implementation 'org.old:old:1' */
description = 'Sends requests.'
dependencies {
    // implementation("org.commented:commented:1")
    api("com.squareup.okio:okio:3.0.0")
    implementation 'com.google.guava:guava'
    testImplementation("junit:junit:4.13.2")
    implementation(project(":core"))
    runtimeOnly "org.computed:$name:1"
}
`;
  const [groovy] = read({
    "build.gradle": build,
    "settings.gradle": "// rootProject.name = 'old'\nrootProject.name = 'okclient'\n",
  });
  expect(groovy).toMatchObject({ ecosystem: "Gradle", name: "okclient", description: "Sends requests." });
  expect(dependencies(groovy)).toEqual([
    "com.squareup.okio:okio 3.0.0",
    "com.google.guava:guava ",
    "junit:junit 4.13.2 (development)",
  ]);
  const files = {
    "app/build.gradle.kts": build,
    "build.gradle.kts": "",
    "settings.gradle.kts": 'rootProject.name = "kotlin-client"\n',
  };
  const kotlin = new Map(read(files).map((manifest) => [manifest.folder, manifest]));
  expect(kotlin.get("")?.name).toBe("kotlin-client");
  expect(kotlin.get("app")?.name).toBe("");
  expect(dependencies(kotlin.get("app"))).toHaveLength(3);
});

test("a specification of a gem has its literal values only", () => {
  const gemspec = `require_relative "lib/server/version"
Gem::Specification.new do |spec|
  spec.name = "server"
  spec.version = Server::VERSION
  spec.summary = 'Answers "all" requests'
  spec.description = "Answers #{count} requests"
  spec.add_dependency "rack", "~> 3.0"
  spec.add_runtime_dependency("nio4r")
  # spec.add_dependency "commented"
  spec.add_development_dependency 'rake', '>= 13'
end
`;
  const [manifest] = read({ "server.gemspec": gemspec });
  expect(manifest).toMatchObject({ ecosystem: "Ruby", name: "server", description: 'Answers "all" requests' });
  expect(dependencies(manifest)).toEqual(["rack ~> 3.0", "nio4r ", "rake >= 13 (development)"]);
  expect(read({ "old.gemspec": "Gem::Specification.new 'old' do |s|\n  s.summary = \"Old\"\nend\n" })[0]?.name).toBe(
    "old",
  );
});

test("a composer.json has its packages and commands, but no platform and no events", () => {
  const [manifest] = read({
    "composer.json": JSON.stringify({
      name: "league/files",
      description: "Stores files.",
      require: { php: "^8.2", "ext-json": "*", "psr/log": "^3.0" },
      "require-dev": { "phpunit/phpunit": "^11", "psr/log": "^2.0" },
      scripts: { test: ["phpunit", "phpstan"], "post-install-cmd": "echo done", lint: "pint" },
    }),
  });
  expect(manifest).toMatchObject({
    ecosystem: "PHP",
    name: "league/files",
    description: "Stores files.",
    scripts: [
      { command: "composer test", meaning: "phpunit && phpstan" },
      { command: "composer lint", meaning: "pint" },
    ],
  });
  expect(dependencies(manifest)).toEqual(["psr/log ^3.0", "phpunit/phpunit ^11 (development)"]);
});

test("a go.mod has its direct requirements", () => {
  const [manifest] = read({
    "go.mod":
      'module "example.org/tool/v2" // the tool\n\ngo 1.22\n\nrequire example.org/one v1.0.0\n\nrequire (\n\texample.org/two v0.2.0\n\texample.org/three v0.3.0 // indirect\n)\n\nreplace example.org/two => ../two\n',
  });
  expect(manifest).toMatchObject({ ecosystem: "Go", name: "example.org/tool/v2" });
  expect(dependencies(manifest)).toEqual(["example.org/one v1.0.0", "example.org/two v0.2.0"]);
});

test("the manifests of examples, fixtures and benchmarks are no manifests of the project", () => {
  expect(
    read({ "examples/a/package.json": "{}", "test/fixtures/pom.xml": "<project/>", "bench/go.mod": "module a\n" }),
  ).toEqual([]);
});
