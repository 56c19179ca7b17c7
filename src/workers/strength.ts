import * as z from 'zod/mini'
import type { PasswordStrength } from '../core/input/password.ts'
import { ratePassword } from './password-rating.ts'
import type { WorkerAnswer } from './pool.ts'

const StrengthQuestion = z.object({ password: z.string(), words: z.array(z.string()) })
export type StrengthQuestion = z.infer<typeof StrengthQuestion>

addEventListener('message', (event: MessageEvent<unknown>) => {
  const { password, words } = StrengthQuestion.parse(event.data)
  const answer: WorkerAnswer<PasswordStrength> = {
    kind: 'done',
    result: ratePassword(password, words)
  }
  postMessage(answer)
})
