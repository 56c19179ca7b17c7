import * as z from 'zod/mini'
import type { PasswordStrength } from '../core/input/password.ts'
import { ratePassword } from './password-rating.ts'
import type { WorkerReply } from './pool.ts'

const StrengthRequest = z.object({ password: z.string(), words: z.array(z.string()) })
export type StrengthRequest = z.infer<typeof StrengthRequest>

addEventListener('message', (event: MessageEvent<unknown>) => {
  const { password, words } = StrengthRequest.parse(event.data)
  const answer: WorkerReply<PasswordStrength> = {
    kind: 'done',
    result: ratePassword(password, words)
  }
  postMessage(answer)
})
