import { existsSync, readFileSync } from 'node:fs'
import { type Browser, chromium } from '@playwright/test'

/** Starts this machine's browser without a window. The caller must close it. */
export function launch(): Promise<Browser> {
  const saved = '.cache/chromium'
  const found = existsSync(saved) ? readFileSync(saved, 'utf8').trim() : undefined
  const executablePath = process.env['CHROMIUM_PATH'] ?? found
  return chromium.launch({
    ...(executablePath ? { executablePath } : {}),
    // Playwright would end this process at once, before it stops its services and prints its table
    handleSIGINT: false,
    handleSIGTERM: false,
    handleSIGHUP: false,
    args: ['--disable-gpu', ...(process.getuid?.() === 0 ? ['--no-sandbox'] : [])]
  })
}
