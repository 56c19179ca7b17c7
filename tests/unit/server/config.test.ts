import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { expect, test } from 'vitest'
import { readConfig, settingNames } from '../../../src/server/config.ts'

const example = Object.fromEntries(
  readFileSync('.env.example', 'utf8')
    .split('\n')
    .filter(line => /^[A-Z_]+=/.test(line))
    .map(line => line.split(/=(.*)/s).slice(0, 2))
)

test('explains every setting in .env.example, and no other', () => {
  expect(Object.keys(example).sort()).toEqual([...settingNames].sort())
})

test('starts from .env.example as from nothing', () => {
  expect(readConfig(example)).toEqual(readConfig({}))
})

test('reads the port that people see from PUBLIC_URL', () => {
  const seen = (PUBLIC_URL: string) => {
    const { scheme, publicPort } = readConfig({ PUBLIC_URL })
    return { scheme, publicPort }
  }
  expect(seen('https://docs.acme.fr')).toEqual({ scheme: 'https', publicPort: undefined })
  expect(seen('http://localhost:8080')).toEqual({ scheme: 'http', publicPort: 8080 })
})

test('names every wrong key at once', () => {
  const read = () => readConfig({ PORT: '99999', DEMO: 'maybe', LOG_LEVEL: 'loud' })
  expect(read).toThrow('PORT=99999 is not valid: it must be a whole number from 1 to 65535.')
  expect(read).toThrow('DEMO=maybe is not valid: it must be true or false.')
  expect(read).toThrow('LOG_LEVEL=loud is not valid: it must be one of fatal, error,')
})

test('keeps the name of the log of all companies apart from those of companies', () => {
  const read = (PLATFORM_ORIGIN: string) => readConfig({ PLATFORM_ORIGIN }).platformOrigin
  for (const name of ['vidimus.example/platform-log', 'logs.example']) expect(read(name)).toBe(name)
  for (const name of ['acme.example/log', 'acme.example:8080/log/2', 'acme.example/log/answers'])
    expect(() => read(name)).toThrow('it must be a name such as vidimus.example/platform-log')
})

test('says what a number must be, once for each setting', () => {
  for (const text of ['many', '0', '1.5']) {
    expect(() => readConfig({ LIMIT_STREAMS_PER_USER: text })).toThrow(
      new Error(
        `LIMIT_STREAMS_PER_USER=${text} is not valid: it must be a whole number of at least 1.`
      )
    )
  }
})

test('waits for an hour at most before a log is signed', () => {
  expect(readConfig({ LOG_BATCH_MS: '3600000' }).logBatchMs).toBe(3_600_000)
  expect(() => readConfig({ LOG_BATCH_MS: '3600001' })).toThrow('it must be at most 3600000')
  expect(() => readConfig({ LOG_BATCH_MS: '199' })).toThrow('at least 200')
})

test('wants two ports', () => {
  expect(() => readConfig({ PORT: '4322' })).toThrow(/both 4322/)
})

test('reaches registers on this machine in tests alone', () => {
  const REGISTERS_ON_LOOPBACK = 'true'
  const PUBLIC_URL = 'https://docs.acme.fr'
  expect(readConfig({}).registersOnLoopback).toBe(false)
  expect(readConfig({ REGISTERS_ON_LOOPBACK }).registersOnLoopback).toBe(true)
  expect(() => readConfig({ REGISTERS_ON_LOOPBACK, PUBLIC_URL })).toThrow(/do not set it/)
  const ofDeveloper = readConfig({ REGISTERS_ON_LOOPBACK, PUBLIC_URL, DEV: 'true' })
  expect(ofDeveloper.registersOnLoopback).toBe(true)
})

test('makes the data folder absolute', () => {
  expect(isAbsolute(readConfig({ DATA_DIR: 'here' }).dataDir)).toBe(true)
})

test('wants the address and a long secret of the API where a process serves pages alone', () => {
  expect(() => readConfig({ ROLE: 'web' })).toThrow(/needs API_INTERNAL_URL and SITE_SECRET/)
  expect(() => readConfig({ SITE_SECRET: 'hunter2' })).toThrow(
    new Error('SITE_SECRET is not valid: it must have at least 32 characters.')
  )
})

test('reads a secret from a file, and wants it in one way alone', () => {
  const file = join(mkdtempSync(join(tmpdir(), 'vidimus-secret-')), 'secret')
  const secrets = {
    DATABASE_URL: 'postgres://a/b',
    SITE_SECRET: 'x'.repeat(32),
    VIDIMUS_KEK: 'ab'.repeat(32)
  }
  for (const [name, secret] of Object.entries(secrets)) {
    for (const end of ['', '\n', '\r\n']) {
      writeFileSync(file, secret + end)
      expect(readConfig({ [`${name}_FILE`]: file })).toEqual(readConfig({ [name]: secret }))
    }
    const both = () => readConfig({ [name]: secret, [`${name}_FILE`]: file })
    expect(both).toThrow(new Error(`Set ${name} or ${name}_FILE, not both.`))
  }
  writeFileSync(file, '\n')
  expect(() => readConfig({ SITE_SECRET_FILE: file })).toThrow(`SITE_SECRET_FILE=${file} is empty.`)
  expect(() => readConfig({ SMTP_URL_FILE: '/nowhere' })).toThrow(
    /^SMTP_URL_FILE=\/nowhere cannot be read: ENOENT/
  )
})

test('never shows a secret that is not valid', () => {
  expect(() => readConfig({ VIDIMUS_KEK: 'hunter2' })).toThrow(
    new Error('VIDIMUS_KEK is not valid: it must have 64 digits from 0 to 9 and a to f.')
  )
})
