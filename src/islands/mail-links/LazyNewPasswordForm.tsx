import { later } from '../kit/LazyPart.tsx'

/** `NewKeyForm`, whose meter and rules follow when somebody comes with a link. */
export const NewKey = later(async () => (await import('./NewPasswordForm.tsx')).NewKeyForm)
