export const mailLinkMinutes = { verify: 24 * 60, activate: 72 * 60, reset: 10, email: 60 } as const
