// KEY=vdm_… REGISTER=019d… node import.ts diplomas.csv
import { createHash } from 'node:crypto'
import { openAsBlob } from 'node:fs'
import { argv, env, stdout } from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'

const api = env.API ?? 'https://api.example.com'
const imports = `${api}/data_source/${env.REGISTER}/import`
const file = await openAsBlob(argv[2] ?? '')
const hash = createHash('sha256')
for await (const chunk of file.stream()) hash.update(chunk)
// a repeated call of the same day imports the same file only once
const idempotencyKey = `${new Date().toISOString().slice(0, 10)}-${hash.digest('hex')}`

async function ask(path: string, more: RequestInit = {}, headers = {}): Promise<string> {
  const authorization = `Bearer ${env.KEY}`
  const response = await fetch(imports + path, { ...more, headers: { authorization, ...headers } })
  const text = await response.text()
  if (!response.ok) throw new Error(text)
  return text
}

const put = { method: 'PUT', body: file }
let answer = await ask('?mode=replace&run=true', put, { 'idempotency-key': idempotencyKey })
let { id, state } = JSON.parse(answer)
while (state === 'uploading' || state === 'reading') {
  await sleep(1000)
  answer = await ask(`/${id}`)
  state = JSON.parse(answer).state
}
stdout.write(answer)
if (state !== 'done') {
  // each refused row with its reasons, as CSV
  throw new Error(await ask(`/${id}/refused`))
}
