// Part of every page. Runs before the first paint and after every navigation, because ClientRouter
// replaces the attributes of <html>: theme, drawer, and which parts CSS shows. The HTML of a page
// is the same for everybody.
;(() => {
  const root = document.documentElement

  // Installs the only Trusted Types policy. It allows script addresses below `/_astro/` on this
  // origin, and the HTML and inline scripts of a page that ClientRouter opens. It refuses all other
  // strings. The content security policy then decides by their hashes which inline scripts run.
  function guard() {
    if (!window.trustedTypes || trustedTypes.defaultPolicy) return
    let page = ''
    const ofPage = text => (page.includes(`>${text}\x3c/script>`) ? text : null)
    trustedTypes.createPolicy('default', {
      createHTML(text, _type, sink) {
        if (sink === 'Element innerHTML') return ofPage(text)
        if (sink !== 'DOMParser parseFromString') return null
        page = text
        return text
      },
      createScript: ofPage,
      createScriptURL(address) {
        const { origin, pathname } = new URL(address, location.href)
        return origin === location.origin && pathname.startsWith('/_astro/') ? address : null
      }
    })
  }

  function apply() {
    const scheme = stored('vidimus:scheme')
    const session = usableToken() ? 'in' : 'out'
    const { features, permissions } = snapshot()
    set('fonts', stored('vidimus:fonts'))
    set('theme', { light: 'vidimus', dark: 'vidimus-dark' }[scheme])
    set('drawer', stored('vidimus:drawer') === 'rail' ? 'rail' : undefined)
    set('session', session)
    set(
      'can',
      session === 'in' ? [...(features ?? []), ...(permissions ?? [])].join(' ') : undefined
    )
  }

  function set(name, value) {
    if (value) root.dataset[name] = value
    else delete root.dataset[name]
  }

  // Opens the page in the language of the signed-in person before anything of it is shown. Later, a
  // file may have been chosen. The path of a page begins with its language, that of home may be bare.
  function follow() {
    const wanted = stored('vidimus:language') ?? snapshot().locale
    const present = root.lang.slice(0, 2)
    const [, first, ...rest] = location.pathname.split('/')
    if (!usableToken() || !/^[a-z]{2}$/.test(wanted) || wanted === present) return
    if (first !== present && first !== '') return
    root.hidden = true
    location.replace(['', wanted, ...rest].join('/') + location.search + location.hash)
  }

  // Loads the scripts of the page, of which a browser would find only the first. In the first
  // animation frame, because before it they would hold up the styles.
  function preload() {
    requestAnimationFrame(() => {
      for (const name of listIn('modules')) {
        const link = document.createElement('link')
        link.rel = 'modulepreload'
        link.href = `/_astro/${name}.js`
        document.head.append(link)
      }
    })
  }

  // Begins the calls that the page's script makes first. It takes their responses, unless it then
  // has another token (`stores/environment.ts`). What follows an event stream is asked for once the
  // stream is open, so that no change is missed. With filters in its address a page loads other
  // lists, so only the person is loaded.
  function beginCalls() {
    const token = usableToken()
    if (!token || root.hidden) return
    const company = /\/admin\/([^/]+)/.exec(location.pathname)?.[1]
    const paths = listIn('calls')
    const calls = []
    for (const path of location.search ? paths.slice(0, 1) : paths) {
      const isOfCompany = path.includes('{company}')
      if (isOfCompany && !company) continue
      const url = `${location.protocol}//api.${location.host}${path.replace('{company}', company)}`
      const headers = { authorization: `Bearer ${token}`, ...(isOfCompany && { company }) }
      const aborter = new AbortController()
      const stream = calls.find(call => call.url.endsWith('/sse'))
      const ask = () => fetch(url, { headers, signal: aborter.signal, cache: 'no-store' })
      const opens = url.endsWith('/sse') ? unlessStreamIsOpen() : undefined
      const before = stream ? stream.response : opens
      const response = before ? before.then(ask) : ask()
      response.catch(() => {}) // whoever takes it calls again
      calls.push({ url, headers, response, stream, abort: () => aborter.abort() })
    }
    window.earlyCalls = calls
    setTimeout(dropCalls, 15_000)
  }

  // The tabs of a browser share one event stream (`stores/tab-leader.ts`).
  async function unlessStreamIsOpen() {
    const { held } = await navigator.locks.query()
    if (held.some(({ name }) => name.startsWith('vidimus:stream:'))) throw new Error('open')
  }

  function dropCalls() {
    for (const call of window.earlyCalls ?? []) if (!call.isTaken) call.abort()
    delete window.earlyCalls
  }

  function listIn(name) {
    const { content = '' } = document.querySelector(`meta[name=${name}]`) ?? {}
    return content.split(' ').filter(Boolean)
  }

  // Keeps what a person does before the script runs that handles it: the last click on a button of an
  // island or of the shell, and the form that was sent last.
  function keepEarlyActions() {
    const waiting = new WeakMap()
    const wait = (island, act) => {
      if (!waiting.has(island))
        island.addEventListener('astro:hydrate', () => waiting.get(island)(), { once: true })
      waiting.set(island, act)
    }
    document.addEventListener('keydown', event => {
      const { key, target, isComposing } = event
      if (key !== 'Enter' || isComposing || !isSentByEnter(target)) return
      const { form } = target
      const island = target.closest('astro-island[ssr]')
      if (!form || !island) return
      // a form without a button would be sent by the browser
      event.preventDefault()
      wait(island, () => form.requestSubmit())
    })
    document.addEventListener(
      'click',
      event => {
        // the browser itself opens popovers
        const button = event.target.closest?.('button:not([popovertarget])')
        const island = button?.closest('astro-island')
        // `onClick` of the shell takes it, when it runs
        if (!island) window.earlyClick = button
        // from then on React hydrates at a click, and handles it
        else if (island.matches('[ssr]:not([data-hydrating])')) {
          const { form, type } = button
          const sends = form && type === 'submit'
          if (sends) event.preventDefault()
          wait(island, () => (sends ? form.requestSubmit() : button.click()))
        }
      },
      { capture: true }
    )
    // the HTML has them disabled: without scripts, a browser would send the password to the server
    document.addEventListener('readystatechange', enableForms)
    document.addEventListener('astro:after-swap', enableForms)
  }

  function enableForms() {
    // there a key cannot be derived or kept, and the script leaves its button disabled
    if (!isSecureContext || !navigator.cookieEnabled) return
    for (const button of document.querySelectorAll('astro-island[ssr] [data-needs-script]'))
      button.disabled = false
  }

  // In a text of several lines, Enter sends only where the keyboard of a phone says so.
  function isSentByEnter(field) {
    return (
      field instanceof HTMLInputElement ||
      (field instanceof HTMLTextAreaElement && field.enterKeyHint === 'go')
    )
  }

  // Returns the token, if it is still valid. Deletes any other.
  function usableToken() {
    const token = /(?:^|; )__Host-vidimus=([^;]+)/.exec(document.cookie)?.[1]
    if (isUsable(token)) return token
    if (token !== undefined)
      // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API is asynchronous and not everywhere
      document.cookie = '__Host-vidimus=; Max-Age=0; Path=/; Secure; SameSite=Lax'
    return undefined
  }

  function isUsable(token) {
    try {
      const payload = token.split('.')[1].replaceAll('-', '+').replaceAll('_', '/')
      // seconds by which this clock is ahead of the server's
      const ahead = Number(stored('vidimus:clock')) || 0
      return (JSON.parse(atob(payload)).exp + ahead) * 1000 > Date.now() + 1000
    } catch {
      return false
    }
  }

  // Returns what is stored of the signed-in person.
  function snapshot() {
    try {
      return JSON.parse(stored('vidimus:user')) ?? {}
    } catch {
      return {}
    }
  }

  function stored(key) {
    try {
      return localStorage.getItem(key)
    } catch {
      return null
    }
  }

  guard()
  follow()
  apply()
  preload()
  beginCalls()
  keepEarlyActions()
  document.addEventListener('astro:after-swap', apply)
  document.addEventListener('astro:after-swap', preload)
  document.addEventListener('astro:after-swap', dropCalls)
  document.addEventListener('vidimus:changed', apply)
})()
