// KEY=vdm_… node deposit.ts report.pdf
import { randomUUID } from 'node:crypto'
import { openAsBlob } from 'node:fs'
import { basename } from 'node:path'
import { argv, env, stdout } from 'node:process'

const api = env.API ?? 'https://api.example.com'
const path = argv[2] ?? ''
// to repeat a call whose answer was lost, send it with the same key
const idempotencyKey = randomUUID()

const query = new URLSearchParams({ name: basename(path) })
const response = await fetch(`${api}/deposit?${query}`, {
  method: 'PUT',
  headers: { authorization: `Bearer ${env.KEY}`, 'idempotency-key': idempotencyKey },
  body: await openAsBlob(path)
})
if (!response.ok) throw new Error(await response.text())
stdout.write(await response.text())
