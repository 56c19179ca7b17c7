import { pino } from 'pino'
import type { Log } from '../domain/deps.ts'

/** Removes fields that could contain secrets. */
export function createLog(level: string): Log {
  return pino({
    level,
    base: null,
    redact: {
      paths: [
        'authorization',
        'token',
        'access_token',
        'password',
        'email',
        'challenge',
        'challenge_response',
        'public_key_jwt',
        'sha256',
        'original',
        'stored',
        'name',
        '*.authorization',
        '*.token',
        '*.email'
      ],
      remove: true
    },
    serializers: { err: describe }
  })
}

// without the `detail` of a database error, which quotes values of the row
function describe(error: unknown): object {
  if (!(error instanceof Error)) return { message: String(error) }
  return {
    name: error.name,
    message: error.message,
    ...('code' in error ? { code: error.code } : {}),
    stack: error.stack,
    ...(error.cause === undefined ? {} : { cause: describe(error.cause) })
  }
}
