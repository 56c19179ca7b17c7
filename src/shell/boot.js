// Part of every page. Runs before the first paint and after every navigation, because ClientRouter
// replaces the attributes of <html>: theme, drawer, and which parts CSS shows. The HTML of a page
// is the same for everybody.
;(() => {
  const root = document.documentElement

  /**
   * Installs the only Trusted Types policy. It allows script addresses below `/_astro/` on this
   * origin, and the HTML and inline scripts of a page that ClientRouter opens. It refuses all other
   * strings. The content security policy then decides by their hashes which inline scripts run.
   */
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
    const session = isSignedIn() ? 'in' : 'out'
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

  /**
   * Opens the page in the language of the signed-in person before anything of it is shown. Later, a
   * file may have been chosen. The path of a page begins with its language, that of home may be bare.
   */
  function follow() {
    const wanted = stored('vidimus:language') ?? snapshot().locale
    const present = root.lang.slice(0, 2)
    const [, first, ...rest] = location.pathname.split('/')
    if (!isSignedIn() || !/^[a-z]{2}$/.test(wanted) || wanted === present) return
    if (first !== present && first !== '') return
    root.hidden = true
    location.replace(['', wanted, ...rest].join('/') + location.search + location.hash)
  }

  /** Returns whether there is a token that is still valid. Deletes any other. */
  function isSignedIn() {
    const token = /(?:^|; )__Host-vidimus=([^;]+)/.exec(document.cookie)?.[1]
    const isIn = isUsable(token)
    if (token !== undefined && !isIn)
      // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API is asynchronous and not everywhere
      document.cookie = '__Host-vidimus=; Max-Age=0; Path=/; Secure; SameSite=Lax'
    return isIn
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

  /** Returns what is stored of the signed-in person. */
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
  document.addEventListener('astro:after-swap', apply)
  document.addEventListener('vidimus:changed', apply)
})()
