// Prepares a clone for `npm start` or `npm test`; does nothing where it is prepared. The first run
// uses any Node that came with npm, so this file has only plain ESM and `node:` built-ins.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import * as fs from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const lockPath = join(root, '.cache', 'setup.lock')
const installStampPath = join(root, 'node_modules', '.setup-stamp')
const buildStampPath = join(root, 'dist', '.setup-stamp')
const chromiumPath = join(root, '.cache', 'chromium')
const firefoxPath = join(root, '.cache', 'firefox')
const env = {
  ...process.env,
  ASTRO_TELEMETRY_DISABLED: '1',
  // npm puts this folder first for scripts; a plain `node scripts/setup.mjs` needs it too.
  PATH: [join(root, 'node_modules', '.bin'), process.env.PATH ?? ''].join(delimiter)
}

const mode = process.argv[2]
if (!['start', 'test'].includes(mode)) {
  stop('usage: node scripts/setup.mjs start|test')
}
if (process.env.SETUP !== 'skip') setUp()

function setUp() {
  ensure(isInstalled, install)
  requireNode24()
  ensure(isBuilt, build)
  if (mode === 'test' && process.env.SKIP_E2E !== '1') {
    provideChromium()
    provideFirefox()
  }
}

/** Holds the lock while `act` runs, because another setup may be doing the same. */
function ensure(isDone, act) {
  if (isDone()) return
  const release = lock()
  try {
    if (!isDone()) act()
  } finally {
    release()
  }
}

function isInstalled() {
  return readStamp(installStampPath) === installStamp()
}

function install() {
  say('Installing packages; the first time, this takes about a minute')
  // no package needs its install script, and an older npm does not know `allowScripts`
  const args = ['ci', '--ignore-scripts', '--include=dev', '--include=optional']
  if (!npm([...args, '--no-audit', '--no-fund', '--loglevel=error']))
    stop('npm ci failed; see the reason above')
  fs.writeFileSync(installStampPath, installStamp())
}

function installStamp() {
  const { dependencies, optionalDependencies, devDependencies, overrides, allowScripts } =
    JSON.parse(fs.readFileSync(join(root, 'package.json'), 'utf8'))
  return createHash('sha256')
    .update(JSON.stringify([dependencies, optionalDependencies, devDependencies]))
    .update(JSON.stringify([overrides, allowScripts, process.platform, process.arch]))
    .update(fs.readFileSync(join(root, 'package-lock.json')))
    .digest('hex')
}

/** Needed on platforms for which the installed npm packages do not include Node 24. */
function requireNode24() {
  if (Number.parseInt(process.versions.node, 10) >= 24) return
  const { stdout } = spawnSync('node', ['-v'], { env, encoding: 'utf8' })
  if (Number.parseInt((stdout ?? '').slice(1), 10) >= 24) return
  stop(
    `install Node 24 on this platform (${process.platform} ${process.arch}): the packages include it only for Linux x64 with glibc`
  )
}

function isBuilt() {
  return readStamp(buildStampPath) === buildStamp()
}

function build() {
  say('Building the pages; this takes about half a minute')
  // read before the build, so that a source that changes meanwhile causes another one
  const stamp = buildStamp()
  fs.rmSync(buildStampPath, { force: true })
  if (!npm(['run', 'build'], 'on failure')) stop('the build failed; see the reason above')
  fs.mkdirSync(dirname(buildStampPath), { recursive: true })
  fs.writeFileSync(buildStampPath, stamp)
}

function buildStamp() {
  const hash = createHash('sha256')
  const inputs = [
    'src',
    'public',
    'astro.config.mjs',
    'astro-i18next.config.ts',
    'scripts/texts.ts',
    'tsconfig.json',
    'package-lock.json'
  ]
  for (const input of inputs) {
    for (const path of filesIn(input)) {
      const content = fs.readFileSync(join(root, path))
      hash.update(`${path}\0${content.length}\0`).update(content)
    }
  }
  return hash.digest('hex')
}

/** Leaves out `src/server`, because it runs from its sources and is not part of the build. */
function filesIn(path) {
  const found = fs.statSync(join(root, path), { throwIfNoEntry: false })
  if (!found || path === 'src/server') return []
  if (!found.isDirectory()) return [path]
  const names = fs.readdirSync(join(root, path)).sort()
  return names.flatMap(name => filesIn(`${path}/${name}`))
}

function readStamp(path) {
  try {
    return fs.readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

/** Prefers the headless shell, which takes a fifth less processor time. */
function provideChromium() {
  const found =
    namedBrowser('CHROMIUM_PATH') || provideShell() || findChromium() || installChromium()
  if (!found) {
    stop(
      'the browser tests need Chromium: run `apt-get install chromium` as root (or your system’s own way), name one in CHROMIUM_PATH, or skip them with SKIP_E2E=1'
    )
  }
  keepBrowser(chromiumPath, found)
}

function provideFirefox() {
  const found = namedBrowser('FIREFOX_PATH') || findFirefox() || installFirefox()
  if (!found) {
    say(
      'Firefox is not installed, so its browser tests are skipped: install it your system’s own way, or name one in FIREFOX_PATH'
    )
  }
  keepBrowser(firefoxPath, found)
}

function namedBrowser(variable) {
  const named = process.env[variable]
  if (named && !runs(named)) stop(`${variable}=${named} does not start: its --version failed`)
  return named
}

/**
 * Saves the path of a browser in a file that playwright.config.ts reads. Deletes the file if there
 * is no browser.
 */
function keepBrowser(path, found) {
  if (readStamp(path) === found) return
  fs.rmSync(path, { force: true })
  if (!found) return
  fs.mkdirSync(dirname(path), { recursive: true })
  fs.writeFileSync(path, found)
}

/**
 * Returns the path of Chromium's headless shell, or undefined. Tries to install it on the first run
 * only, because some distributions have no such package.
 */
function provideShell() {
  const shell = 'chromium-headless-shell'
  const found = findBrowser(shell)
  if (found || readStamp(chromiumPath) !== undefined) return found
  installPackages('Chromium’s headless shell', [shell, ...sandbox()], 'ignore')
  return findBrowser(shell)
}

function findChromium() {
  return findBrowser('chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable')
}

function findFirefox() {
  return findBrowser('firefox-esr', 'firefox')
}

function findBrowser(...names) {
  return names.map(findOnPath).find(path => path && runs(path))
}

/** Returns whether a browser starts and so has all its shared libraries. */
function runs(path) {
  return spawnSync(path, ['--version'], { stdio: 'ignore', timeout: 60_000 }).status === 0
}

function installChromium() {
  installPackages('Chromium', ['chromium', ...sandbox()], 'inherit')
  return findChromium()
}

function sandbox() {
  return isRoot() ? [] : ['chromium-sandbox']
}

function installFirefox() {
  // Where the distribution has no such package, the tests do without it.
  installPackages('Firefox', ['firefox-esr'], 'ignore')
  return findFirefox()
}

/** Installs packages of the distribution if that needs no password. Otherwise does nothing. */
function installPackages(name, packages, output) {
  if (!findOnPath('apt-get')) return
  const noPassword = ['-n', '--preserve-env=DEBIAN_FRONTEND,http_proxy,https_proxy,no_proxy']
  const prefix = isRoot() ? [] : ['sudo', ...noPassword]
  if (!isRoot() && spawnSync('sudo', ['-n', 'true'], { stdio: 'ignore' }).status !== 0) return
  say(`Installing ${name} from the distribution, for the browser tests`)
  const install = ['install', '-y', '--no-install-recommends', ...packages]
  // Fresh images have empty package lists and old ones point at versions that are gone.
  if (!apt(prefix, install, 'ignore')) {
    apt(prefix, ['update'], output)
    apt(prefix, install, output)
  }
}

function isRoot() {
  return process.getuid?.() === 0
}

function apt(prefix, args, output) {
  const { http_proxy, https_proxy, no_proxy, HTTP_PROXY, HTTPS_PROXY, NO_PROXY } = process.env
  const proxies = {
    http_proxy: http_proxy ?? HTTP_PROXY,
    https_proxy: https_proxy ?? HTTPS_PROXY,
    no_proxy: no_proxy ?? NO_PROXY
  }
  const command = [...prefix, 'apt-get', '-q', '-o', 'DPkg::Lock::Timeout=600', ...args]
  const { status } = spawnSync(command[0], command.slice(1), {
    env: { ...process.env, ...proxies, DEBIAN_FRONTEND: 'noninteractive' },
    stdio: ['ignore', output, output]
  })
  return status === 0
}

function findOnPath(name) {
  return (process.env.PATH ?? '')
    .split(delimiter)
    .filter(Boolean)
    .map(folder => join(folder, name))
    .find(isExecutable)
}

function isExecutable(path) {
  try {
    fs.accessSync(path, fs.constants.X_OK)
    return fs.statSync(path).isFile()
  } catch {
    return false
  }
}

/**
 * Runs npm and returns whether it succeeded. With `shows` set to `on failure`, prints npm's output
 * only if npm fails. Uses the Node that npm came with, because `npm ci` deletes the Node in
 * node_modules.
 */
function npm(args, shows = 'always') {
  const { npm_execpath, npm_node_execpath } = process.env
  const command = npm_execpath ? [npm_node_execpath ?? process.execPath, npm_execpath] : ['npm']
  const { status, stdout, stderr } = spawnSync(command[0], [...command.slice(1), ...args], {
    cwd: root,
    env,
    stdio: shows === 'always' ? 'inherit' : ['inherit', 'pipe', 'pipe'],
    maxBuffer: 64 * 1024 * 1024,
    shell: !npm_execpath && process.platform === 'win32'
  })
  if (status !== 0 && stdout) process.stderr.write(Buffer.concat([stdout, stderr]))
  return status === 0
}

/**
 * Waits until this process holds the lock, and returns a function that frees it. The lock is a
 * folder that contains one file, named after the process that holds the lock. If that process is
 * dead, a waiting process must delete this file before it removes the folder. Only one process can
 * delete the file, so two waiting processes never both get the lock.
 */
function lock() {
  const owner = `${process.pid}-${startedAt(process.pid)}`
  fs.mkdirSync(dirname(lockPath), { recursive: true })
  let waiting = false
  while (!tryLock(owner)) {
    if (!waiting) say('Waiting for another setup in this folder to finish')
    waiting = true
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100)
  }
  const release = () => {
    fs.rmSync(join(lockPath, owner), { force: true })
    removeEmptyLock()
    process.off('exit', release)
  }
  process.on('exit', release)
  return release
}

function tryLock(owner) {
  try {
    fs.mkdirSync(lockPath)
    fs.writeFileSync(join(lockPath, owner), '')
    return true
  } catch (error) {
    if (!['EEXIST', 'ENOENT'].includes(error.code)) throw error
  }
  const modified = fs.statSync(lockPath, { throwIfNoEntry: false })?.mtimeMs
  if (modified === undefined) return false
  const [holder] = readNames(lockPath)
  if (holder === undefined) {
    // its owner died between creating the folder and its file
    if (Date.now() - modified > 5_000) removeEmptyLock()
  } else if (!isAlive(holder)) {
    try {
      fs.unlinkSync(join(lockPath, holder))
      removeEmptyLock()
    } catch {}
  }
  return false
}

function removeEmptyLock() {
  try {
    fs.rmdirSync(lockPath)
  } catch {}
}

function readNames(path) {
  try {
    return fs.readdirSync(path)
  } catch {
    return []
  }
}

function isAlive(owner) {
  const [pid, started] = owner.split('-').map(Number)
  try {
    process.kill(pid, 0)
  } catch (error) {
    if (error.code !== 'EPERM') return false
  }
  const now = startedAt(pid)
  return now === undefined || now === started
}

/** The start time distinguishes a process from a later one with the same id. */
function startedAt(pid) {
  try {
    const stat = fs.readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return fields[0] === 'Z' ? 0 : Number(fields[19])
  } catch {
    return undefined
  }
}

function say(text) {
  process.stdout.write(`vidimus: ${text}\n`)
}

function stop(text) {
  process.stderr.write(`vidimus: ${text}\n`)
  process.exit(1)
}
