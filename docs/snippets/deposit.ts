// KEY=vdm_… node deposit.ts report.pdf
import { openAsBlob } from 'node:fs'
import { basename } from 'node:path'
import { argv, env, stdout } from 'node:process'

const api = env.API ?? 'https://api.example.com'
const path = argv[2] ?? ''

const query = new URLSearchParams({ name: basename(path) })
const response = await fetch(`${api}/deposit?${query}`, {
  method: 'PUT',
  headers: { authorization: `Bearer ${env.KEY}` },
  body: await openAsBlob(path)
})
if (!response.ok) throw new Error(await response.text())
stdout.write(await response.text())
