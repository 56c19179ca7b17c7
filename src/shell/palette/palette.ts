import { onClick, readStoredSetting } from '../kit/page.ts'
import {
  characterShortcutsStorageKey,
  isAppleDevice,
  type ShortcutTarget,
  shortcutTargetOf
} from './shortcuts.ts'

const fields = 'input:not([type=checkbox], [type=radio], [type=button]), textarea, select'

/** The code of the palette and of the list of shortcuts is loaded at the first use. */
export function startPalette(): void {
  document.addEventListener('keydown', event => {
    const { target } = event
    const shortcut = shortcutTargetOf(event, {
      isApple: isAppleDevice(),
      isInField:
        target instanceof HTMLElement && (target.isContentEditable || target.matches(fields)),
      hasCharacterKeys: readStoredSetting(characterShortcutsStorageKey) !== 'off'
    })
    if (!shortcut) return
    event.preventDefault()
    // a key that is held down would open and close it in turns
    if (!event.repeat) void open(shortcut)
  })
  onClick('[data-act=palette]', () => void open('palette'))
}

async function open(shortcut: ShortcutTarget): Promise<void> {
  // a question that waits for an answer stays alone
  if (document.querySelector('dialog:modal:not(:has(.palette-input))')) return
  if (shortcut === 'palette') (await import('./palette-dialog.ts')).togglePalette()
  else (await import('./key-help.ts')).openShortcutHelp()
}
