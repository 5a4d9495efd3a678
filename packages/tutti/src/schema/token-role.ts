// `TOKEN_ROLES` are in ascending order: each role includes all rights of the roles before it.

export const TOKEN_ROLES = ["view", "operate", "admin"] as const;
export type TokenRole = (typeof TOKEN_ROLES)[number];

export const allows = (role: TokenRole, needed: TokenRole): boolean =>
  TOKEN_ROLES.indexOf(role) >= TOKEN_ROLES.indexOf(needed);

/** `MAX_TOKEN_DAYS` is ten years. */
export const MAX_TOKEN_DAYS = 3650;
