import { keepMount } from 'nanostores'
import { type ComponentType, createElement } from 'react'
import { flushSync } from 'react-dom'
import { createRoot } from 'react-dom/client'
import { textsOf } from '../../scripts/texts.ts'
import type { Locale } from '../../src/i18n/index.ts'
import { withTranslation } from '../../src/islands/kit/use-translation.ts'
import { $route } from '../../src/stores/routes.ts'

// else it lets go of the document a second after its last user, when the test may be over
keepMount($route)

/** Draws a component of an island, with all texts of a language, into the document of happy-dom. */
export function renderIsland<Props extends object>(
  Screen: ComponentType<Props>,
  props: Props,
  locale: Locale = 'en'
) {
  // which happy-dom does not tell; forms say that they cannot work without
  Object.assign(globalThis, { isSecureContext: true })
  const place = document.body.appendChild(document.createElement('div'))
  const root = createRoot(place)
  const Island = withTranslation(Screen)
  flushSync(() =>
    root.render(createElement(Island, { ...props, locale, messages: textsOf(locale) }))
  )
  return {
    place,
    /** Returns the button with this text. Throws if there is none. */
    button: (name: string) =>
      one([...place.querySelectorAll('button')].filter(each => each.textContent === name)),
    /** Returns the field with this label. Throws if there is none. */
    field(label: string) {
      const labels = [...place.querySelectorAll('label')]
      const id = one(labels.filter(each => each.textContent === label)).htmlFor
      return one([...place.querySelectorAll<HTMLInputElement>(`[id="${id}"]`)])
    },
    remove() {
      root.unmount()
      place.remove()
    }
  }
}

/** Replaces the text of a field, as a person does. */
export function type(field: HTMLInputElement | HTMLSelectElement, text: string): void {
  field.focus()
  field.value = text
  field.dispatchEvent(new Event('input', { bubbles: true }))
}

/** Returns the texts that describe a field to screen readers. */
export function descriptionOf(field: HTMLElement): string {
  const ids = field.getAttribute('aria-describedby')?.split(' ') ?? []
  return ids.map(id => document.getElementById(id)?.textContent).join(' ')
}

function one<Found>(found: Found[]): Found {
  const [first, ...others] = found
  if (first === undefined || others.length > 0) throw new Error(`found ${found.length}, not one`)
  return first
}
