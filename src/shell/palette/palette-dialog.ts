import type { OwnAccount } from '../../contract/users.ts'
import type { Translate } from '../../i18n/index.ts'
import type { FoundItem } from '../../stores/company-search.ts'
import { createElement } from '../kit/elements.ts'
import { isSignedIn, pageLocale } from '../kit/page.ts'
import {
  type Command,
  commandForItem,
  commandKinds,
  matchingCommands,
  type PaletteContext,
  permittedCommands,
  recentCommands
} from './commands.ts'
import { openDialog } from './dialog.ts'
import { loadPaletteTranslator } from './palette-words.ts'

const pauseMs = 200
const optionId = (at: number) => `palette-option-${at}`

type Search =
  | { status: 'none' | 'searching' | 'failed' }
  | { status: 'done'; items: readonly FoundItem[] }

let isOpening = false
let close: (() => void) | undefined

export async function togglePalette(): Promise<void> {
  if (close) return close()
  if (isOpening) return
  isOpening = true
  try {
    const [t, person] = await Promise.all([loadPaletteTranslator(), loadPerson()])
    close = openPalette(t, person)
  } finally {
    isOpening = false
  }
}

// undefined without a session
async function loadPerson() {
  if (!isSignedIn()) return undefined
  const [{ $user }, { $recentCommands, rememberCommand }, { searchInCompany }] = await Promise.all([
    import('../../stores/signed-in-user.ts'),
    import('../../stores/recent-commands.ts'),
    import('../../stores/company-search.ts')
  ])
  return { $user, $recentCommands, rememberCommand, searchInCompany }
}

function openPalette(
  t: Translate<string>,
  person: Awaited<ReturnType<typeof loadPerson>>
): () => void {
  const input = createElement('input', {
    class: 'palette-input',
    type: 'text',
    role: 'combobox',
    'aria-label': t('palette.search'),
    'aria-autocomplete': 'list',
    'aria-expanded': 'true',
    'aria-controls': 'palette-list',
    placeholder: t('palette.search'),
    autocomplete: 'off',
    autocapitalize: 'none',
    spellcheck: 'false',
    enterkeyhint: 'go',
    maxlength: '100'
  })
  const closeButton = createElement(
    'button',
    { class: 'palette-close', type: 'button' },
    t('palette.close')
  )
  const list = createElement('div', {
    id: 'palette-list',
    class: 'palette-list',
    role: 'listbox',
    'aria-label': t('palette.commands')
  })
  const status = createElement('p', { class: 'palette-status', role: 'status' })
  const dialog = createElement(
    'dialog',
    { class: 'palette', 'aria-label': t('palette.title') },
    createElement('div', { class: 'palette-head' }, input, closeButton),
    list,
    status
  )

  let user: OwnAccount | undefined
  let search: Search = { status: 'none' }
  let shown: Command[] = []
  let active = 0
  let stopSearch = () => {}

  const end = openDialog(dialog, () => {
    stopSearch()
    stopUser?.()
    document.removeEventListener('vidimus:changed', leave)
    close = undefined
  })
  const stopUser = person?.$user.subscribe(value => {
    user = value
    draw()
  })
  if (!person) draw()
  document.addEventListener('vidimus:changed', leave)
  closeButton.addEventListener('click', end)
  input.addEventListener('input', () => {
    active = 0
    searchLater()
    draw()
  })
  dialog.addEventListener('keydown', onKey)
  list.addEventListener('click', event => {
    const option = event.target instanceof Element && event.target.closest('[role=option]')
    const command = option && shown[Number(option.id.slice(optionId(0).length - 1))]
    if (!command) return
    // the browser opens another tab or window
    if (command.href && (event.metaKey || event.ctrlKey || event.shiftKey)) return
    event.preventDefault()
    choose(command)
  })
  return end

  // if the person has signed in or out since the palette was opened
  function leave(): void {
    if (isSignedIn() !== (person !== undefined)) end()
  }

  function opener(): PaletteContext {
    return {
      locale: pageLocale(),
      isSignedIn: person !== undefined,
      isPending: user?.pending === true,
      permissions: person ? user?.permissions : [],
      features: user?.features ?? [],
      company: /\/admin\/([^/]+)/.exec(location.pathname)?.[1] ?? user?.company.id,
      isPublic: document.querySelector('#drawer a[href*="/sign-up"]') !== null
    }
  }

  function searchLater(): void {
    stopSearch()
    const text = input.value.trim()
    const { company, permissions = [], locale } = opener()
    const isAdmin = permissions.some(name => name === 'admin' || name === 'operator')
    if (!person || !isAdmin || company === undefined || text === '') {
      search = { status: 'none' }
      return
    }
    // what was found before stays as long as it matches the longer text
    if (search.status !== 'done') search = { status: 'searching' }
    const calls = new AbortController()
    const { signal } = calls
    const timer = setTimeout(async () => {
      let next: Search
      try {
        const isOperator = permissions.includes('operator')
        const items = await person.searchInCompany(text, { company, locale, isOperator, signal })
        next = { status: 'done', items }
      } catch {
        next = { status: 'failed' }
      }
      if (signal.aborted) return
      search = next
      draw()
    }, pauseMs)
    stopSearch = () => {
      clearTimeout(timer)
      calls.abort()
    }
  }

  function draw(): void {
    const text = input.value.trim()
    const who = opener()
    const commands = permittedCommands(who, t)
    const recent =
      text === '' ? recentCommands(person?.$recentCommands.get() ?? [], commands, who) : []
    const items =
      search.status === 'done' ? search.items.map(item => commandForItem(item, who.locale)) : []
    const others = matchingCommands([...commands, ...items], text)
    const before = shown[active]?.id
    const sections = [
      { name: 'recent', commands: recent },
      ...commandKinds.map(kind => ({
        name: kind,
        commands: others.filter(each => each.kind === kind && !recent.includes(each))
      }))
    ].filter(section => section.commands.length > 0)
    shown = sections.flatMap(section => section.commands)
    // what arrives later must not move the choice to another command
    active = Math.max(0, active === 0 ? 0 : shown.findIndex(({ id }) => id === before))
    let at = 0
    list.replaceChildren(
      ...sections.map(({ name, commands: those }) =>
        createElement(
          'div',
          { role: 'group', 'aria-labelledby': `palette-${name}` },
          createElement(
            'p',
            { id: `palette-${name}`, class: 'palette-heading', role: 'presentation' },
            t(`palette.kinds.${name}`)
          ),
          ...those.map(command => optionOf(command, at++))
        )
      )
    )
    list.hidden = shown.length === 0
    input.setAttribute('aria-expanded', String(shown.length > 0))
    markActive()
    status.textContent = statusWords(text)
  }

  function statusWords(text: string): string {
    if (search.status === 'searching') return t('palette.searching')
    const count = t('palette.found', { count: shown.length })
    if (search.status === 'failed') return `${count} ${t('palette.failed')}`
    return shown.length === 0 ? t('palette.none', { query: text }) : count
  }

  function markActive(): void {
    for (const [at, option] of list.querySelectorAll('[role=option]').entries()) {
      option.setAttribute('aria-selected', String(at === active))
      if (at === active) option.scrollIntoView({ block: 'nearest' })
    }
    if (shown.length === 0) input.removeAttribute('aria-activedescendant')
    else input.setAttribute('aria-activedescendant', optionId(active))
    // the heading of the first group, too
    if (active === 0) list.scrollTop = 0
  }

  function onKey(event: KeyboardEvent): void {
    // the keys of a writing system choose its own signs
    if (event.isComposing) return
    const { key } = event
    const isInput = event.target === input
    const step = { ArrowDown: 1, ArrowUp: -1 }[key]
    if (key === 'Enter' && isInput) {
      event.preventDefault()
      const command = shown[active]
      if (command) choose(command, event.metaKey || event.ctrlKey)
    } else if (step !== undefined && isInput && shown.length > 0) {
      event.preventDefault()
      active = (active + step + shown.length) % shown.length
      markActive()
    }
  }

  function choose(command: Command, inNewTab = false): void {
    person?.rememberCommand({ id: command.id, item: command.item })
    end()
    if (command.href === undefined) runAction(command.id)
    else if (inNewTab) openTab(command.href)
    else void openPage(command.href)
  }
}

function openTab(href: string): void {
  const link = createElement('a', { href, target: '_blank', rel: 'noopener' })
  link.click()
}

function optionOf({ label, note, lang, href }: Command, at: number): HTMLElement {
  const attributes = { id: optionId(at), class: 'palette-option', role: 'option', tabindex: '-1' }
  const texts = [
    createElement('span', { class: 'palette-label', ...(lang ? { lang } : {}) }, label),
    ...(note === undefined ? [] : [createElement('span', { class: 'palette-note' }, note)])
  ]
  return href === undefined
    ? createElement('div', attributes, ...texts)
    : createElement('a', { ...attributes, href }, ...texts)
}

async function openPage(href: string): Promise<void> {
  const { navigate } = await import('../../stores/navigation.ts')
  await navigate(href)
}

// if the drawer has a control for the action, presses it, so that palette and drawer do the same
function runAction(id: string): void {
  const [act = '', value = ''] = id.split('-')
  if (id === 'verify-file' || id === 'deposit-file') chooseFiles(act === 'verify' ? act : 'deposit')
  else if (id === 'keys')
    void import('./key-help.ts').then(({ openShortcutHelp }) => openShortcutHelp())
  else if (id === 'sign-out') click('[data-act=sign-out]')
  else if (act === 'scheme') click(`input[name=scheme][value=${value}]`)
  else if (act === 'language') click(`a[data-locale=${value}]`)
}

function click(selector: string): void {
  document.querySelector<HTMLElement>(`#drawer ${selector}`)?.click()
}

function chooseFiles(to: 'verify' | 'deposit'): void {
  const input = document.createElement('input')
  input.type = 'file'
  input.multiple = true
  input.addEventListener('change', async () => {
    const items = [...(input.files ?? [])].map(file => ({
      entry: null,
      file,
      handle: Promise.resolve(undefined)
    }))
    const { handOffDroppedItems } = await import('../drop/dropped-files.ts')
    await handOffDroppedItems(to, items)
  })
  input.click()
}
