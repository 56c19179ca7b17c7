import * as z from 'zod/mini'
import type { Strength } from '../core/input/password.ts'
import type { WorkerAnswer } from './pool.ts'
import { ratePassword } from './rating.ts'

const Question = z.object({ password: z.string(), words: z.array(z.string()) })
export type Question = z.infer<typeof Question>

addEventListener('message', (event: MessageEvent<unknown>) => {
  const { password, words } = Question.parse(event.data)
  const answer: WorkerAnswer<Strength> = { kind: 'done', result: ratePassword(password, words) }
  postMessage(answer)
})
