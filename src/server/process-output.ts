import { styleText } from 'node:util'
import { createLog } from './adapters/log.ts'
import type { Log } from './domain/deps.ts'

export interface StartSummary {
  address: string
  /** To create the first operator. Undefined once there is one. */
  setupLink?: string | undefined
  demo?: { address: string; account: { email: string; password: string } | undefined } | undefined
  dataDir?: string
  /** Undefined if a mail server is configured. */
  outbox?: string | undefined
}

export interface ProcessOutput {
  log: Log
  starting(): void
  ready(facts: StartSummary): void
  stopping(): void
}

/** A terminal gets text for people, any other `stream` JSON lines for programs. */
export function createProcessOutput(stream: NodeJS.WriteStream, level: string): ProcessOutput {
  return stream.isTTY ? createTerminalOutput(stream, level) : createLogOutput(level)
}

function createLogOutput(level: string): ProcessOutput {
  const log = createLog(level)
  return {
    log,
    starting: () => undefined,
    ready({ address, setupLink }) {
      log.info({ address }, 'Vidimus is ready')
      if (setupLink) log.info({ link: setupLink }, 'open this link to become the first operator')
    },
    stopping: () => undefined
  }
}

const levels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']

export function createTerminalOutput(
  stream: NodeJS.WriteStream,
  level: string,
  clock: () => Date = () => new Date()
): ProcessOutput {
  const says = (wanted: string) => levels.indexOf(wanted) >= levels.indexOf(level)
  // respects NO_COLOR and terminals without color
  const paint = (format: 'bold' | 'dim' | 'red' | 'yellow', text: string) =>
    styleText(format, text, { stream })
  const line = (text: string) => stream.write(`${text}\n`)
  const timed = (text: string) =>
    line(`${paint('dim', clock().toTimeString().slice(0, 8))} ${text}`)
  return {
    log: {
      info(facts, text) {
        if (!says('info')) return
        if ('file' in facts) timed(`Mail ${paint('dim', kindOf(facts))}: ${facts.file}`)
        else if (says('debug')) timed(`${text}${detailsOf(facts)}`)
      },
      warn(facts, text) {
        if (says('warn')) timed(`${paint('yellow', 'Warning')}: ${text}${detailsOf(facts)}`)
      },
      error(facts, text) {
        if (says('error')) timed(`${paint('red', 'Error')}: ${text}${detailsOf(facts)}`)
      }
    },
    starting() {
      if (says('info')) line('Starting Vidimus and its database …')
    },
    ready(facts) {
      if (!says('info')) return
      line(`\n${paint('bold', 'Vidimus is running.')}\n`)
      for (const [name, text] of linesOf(facts)) line(`  ${paint('dim', name.padEnd(15))}${text}`)
      line('')
    },
    stopping() {
      if (says('info')) line('Stopping Vidimus and its database …')
    }
  }
}

function linesOf({ address, setupLink, demo, dataDir, outbox }: StartSummary): [string, string][] {
  const { email, password } = demo?.account ?? {}
  const lines: [string, string | false | undefined][] = [
    ['Site', address],
    ['Demonstration', demo?.address],
    ['', email && `sign in as ${email}, password: ${password}`],
    ['Setup', setupLink],
    ['', setupLink && 'open this link once to become the operator'],
    ['Data', dataDir],
    ['Mail', outbox && `saved to ${outbox}; links appear here`],
    ['Stop', 'Ctrl+C']
  ]
  return lines.flatMap(([name, text]) => (text ? [[name, text]] : []))
}

function kindOf(facts: object): string {
  return 'kind' in facts ? `(${String(facts.kind).replaceAll('_', ' ')})` : ''
}

// the fields that are printed in a terminal, because they never contain personal data
const harmless = [
  ...['job', 'company', 'host', 'domain', 'path', 'route', 'status', 'code', 'request', 'upload'],
  ...['log', 'import', 'check', 'checks', 'reason', 'refused', 'turnedAway', 'attempts', 'seconds'],
  ...['missing', 'damaged']
]
const maxPrinted = 3

// { job: 'forget', err } → ': the reason (job forget)'
function detailsOf(facts: object): string {
  const known = Object.entries(facts).filter(([name]) => harmless.includes(name))
  const named = known.flatMap(([name, value]) => factText(name, value)).join(', ')
  const reasons: string[] = []
  let error: unknown = 'err' in facts ? facts.err : undefined
  for (; error instanceof Error; error = error.cause) reasons.push(error.message)
  const details = `${reasons.map(reason => `: ${reason}`).join('')}${named && ` (${named})`}`
  // control characters in text from another server must not move the terminal's cursor
  return details.replaceAll(/\p{Cc}+/gu, ' ')
}

// an empty list, which `flatMap` leaves out, if there is no value
function factText(name: string, value: unknown): string | [] {
  if (!Array.isArray(value)) return value === undefined ? [] : `${name} ${value}`
  if (value.length === 0) return []
  const more = value.length - maxPrinted
  const shown = value.slice(0, maxPrinted).join(' ')
  return `${name} ${shown}${more > 0 ? ` and ${more} more` : ''}`
}
