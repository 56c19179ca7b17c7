import { createElement } from '../kit/elements.ts'
import { readStoredSetting, storeSettingInBrowser } from '../kit/page.ts'
import { openDialog } from './dialog.ts'
import { loadPaletteTranslator } from './palette-words.ts'
import { characterShortcutsStorageKey, isAppleDevice } from './shortcuts.ts'

// by section and shortcut, as in the names of translations such as `palette.keys.lists.move`
const keys: Record<string, Record<string, readonly string[]>> = {
  everywhere: { palette: ['mod', 'K'], help: ['?'], close: ['Esc'], paste: ['mod', 'V'] },
  lists: {
    move: ['↑', '↓'],
    ends: ['home', 'end'],
    open: ['enter'],
    select: ['space'],
    range: ['shift', '↓'],
    all: ['mod', 'A'],
    nothing: ['Esc']
  }
}

/** Does nothing while the list or the palette is open. */
export async function openShortcutHelp(): Promise<void> {
  if (document.querySelector('.palette')) return
  const t = await loadPaletteTranslator()
  const nameOf = (key: string) => {
    if (key === 'mod') return isAppleDevice() ? '⌘' : t('palette.keys.names.ctrl')
    return key.length > 3 || key === 'end' ? t(`palette.keys.names.${key}`) : key
  }
  const box = createElement('input', { type: 'checkbox', class: 'checkbox' })
  box.checked = readStoredSetting(characterShortcutsStorageKey) !== 'off'
  box.addEventListener('change', () => {
    storeSettingInBrowser(characterShortcutsStorageKey, box.checked ? undefined : 'off')
  })
  const button = createElement('button', { type: 'button', class: 'btn' }, t('palette.close'))
  const dialog = createElement(
    'dialog',
    { class: 'palette palette-keys', 'aria-labelledby': 'palette-keys' },
    // the focus begins above the list, which may have to be scrolled
    createElement(
      'h2',
      { id: 'palette-keys', class: 'section-title', tabindex: '-1', autofocus: '' },
      t('palette.keys.title')
    ),
    ...Object.entries(keys).flatMap(([section, rows]) => [
      createElement('h3', { class: 'palette-heading' }, t(`palette.keys.${section}.title`)),
      createElement(
        'dl',
        {},
        ...Object.entries(rows).map(([name, combination]) =>
          createElement(
            'div',
            {},
            createElement(
              'dt',
              {},
              ...combination.map(key => createElement('kbd', {}, nameOf(key)))
            ),
            createElement('dd', {}, t(`palette.keys.${section}.${name}`))
          )
        )
      )
    ]),
    createElement('label', {}, box, createElement('span', {}, t('palette.keys.character'))),
    button
  )
  button.addEventListener(
    'click',
    openDialog(dialog, () => {})
  )
}
