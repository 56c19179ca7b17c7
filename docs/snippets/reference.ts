// REGISTER=019d… node reference.ts 2026-0117 Vale 1999-03-14
import { argv, env, stdout } from 'node:process'

const api = env.API ?? 'https://api.example.com'
const [, , reference, ...fields] = argv

const response = await fetch(`${api}/verify`, {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ items: [{ reference, data_source: env.REGISTER, fields }] })
})
if (!response.ok) throw new Error(await response.text())
stdout.write(await response.text())
