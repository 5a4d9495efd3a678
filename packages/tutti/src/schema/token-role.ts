// Roles of server tokens, in ascending order: each role includes all rights of the roles before it.

export const TOKEN_ROLES = ["view", "operate", "admin"] as const;
export type TokenRole = (typeof TOKEN_ROLES)[number];

export const allows = (role: TokenRole, needed: TokenRole): boolean =>
  TOKEN_ROLES.indexOf(role) >= TOKEN_ROLES.indexOf(needed);

/** Ten years. A token without this setting does not expire. */
export const MAX_TOKEN_DAYS = 3650;
