import { expect, test, vi } from 'vitest'
import type { DisabledState } from '../../../src/contract/kit/disabled.ts'
import { AppError, type ErrorCode } from '../../../src/contract/kit/errors.ts'
import { toProblem } from '../../../src/contract/kit/problems.ts'
import type { OwnAccount } from '../../../src/contract/users.ts'
import { makeBrowser, makeToken } from '../../helpers/browser.ts'

const start = Date.parse('2026-05-03T12:00:00Z')
const exp = start / 1000 + 3600

const disabled = { scope: 'user', reason: 'left', since: '2026-05-01T00:00:00Z' } as const
const credentials = { email: 'ada@example.com', password: 'secret' }

const ada: OwnAccount = {
  id: '01978a5e-0000-7000-8000-000000000001',
  email: 'ada@example.com',
  username: 'Ada Lovelace',
  initials: 'AL',
  locale: 'en',
  features: ['deposit'],
  permissions: [],
  company: { id: '01978a5e-0000-7000-8000-000000000002', name: 'Acme' },
  usage_remaining: { requests: null, storage: null }
}

test('signs in with a signed challenge, keeps the token in the cookie and loads the person', async () => {
  const token = makeToken({ sub: 'ada', exp })
  const { browser, tab, sessions, users, accounts } = await open({ token })
  await accounts.signIn(credentials)
  expect(tab.calls).toEqual([
    {
      method: 'GET',
      path: '/user/login/challenge?email=ada%40example.com&purpose=login',
      body: undefined,
      token: null
    },
    {
      method: 'POST',
      path: '/user/login',
      body: { email: 'ada@example.com', challenge_response: 'login-challenge.login@localhost' },
      token: null
    },
    { method: 'GET', path: '/user', body: undefined, token: `Bearer ${token}` }
  ])
  expect(browser.cookies.get('__Host-vidimus')).toEqual({
    value: token,
    attributes: ['Max-Age=3600', 'Path=/', 'Secure', 'SameSite=Lax']
  })
  expect(sessions.$session.get()).toEqual({ status: 'in', token })
  expect(users.$user.get()?.username).toBe('Ada Lovelace')
  expect(browser.storage.get('vidimus:device')).toBe('device-mark')
  expect(browser.storage.get('vidimus:user')).toBe(
    '{"features":["deposit"],"permissions":[],"locale":"en"}'
  )
  expect(tab.keys).toEqual({ opened: 1, closed: 1 })
})

test('has stored what a person may do by the time anybody hears of the person', async () => {
  const { browser, accounts, sessions, users } = await open({})
  const stored: unknown[] = []
  users.$user.listen(() => stored.push(browser.storage.get('vidimus:user')))
  await accounts.signIn(credentials)
  await sessions.signOut()
  expect(stored).toEqual(['{"features":["deposit"],"permissions":[],"locale":"en"}', undefined])
})

test('signs up with the key of one derivation, which then signs in', async () => {
  const { tab, accounts } = await open({})
  const input = { email: 'ada@example.com', username: 'Ada', password: 'secret' }
  await accounts.signUp({ ...input, locale: 'fr' })
  expect(tab.calls.map(({ method, path }) => `${method} ${path.split('?')[0]}`)).toEqual([
    'GET /user/login/challenge',
    'POST /user',
    'GET /user/login/challenge',
    'POST /user/login',
    'GET /user'
  ])
  expect(tab.calls[0]?.path).toContain('purpose=signup')
  expect(tab.calls[1]?.body).toEqual({
    email: 'ada@example.com',
    username: 'Ada',
    public_key_jwt: 'signup-challenge.signup@localhost',
    locale: 'fr'
  })
  expect(tab.keys).toEqual({ opened: 1, closed: 1 })
})

test('asks as a stranger for what strangers may, while a sign-up waits for its mail', async () => {
  const cookie = makeToken({ sub: 'ada', exp, st: 'pending' })
  const { tab, accounts, sessions } = await open({ cookie })
  sessions.restoreSession()
  await accounts.signIn({ email: 'ada@example.com', password: 'another' })
  const tokens = tab.calls
    .filter(({ path }) => path.startsWith('/user/login'))
    .map(({ token }) => token)
  expect(tokens).toEqual([null, null])
  expect(tab.calls.find(({ path }) => path === '/user')?.token).toBe(`Bearer ${cookie}`)
})

test('stays signed out and closes the keys when the login fails', async () => {
  const { browser, tab, sessions, accounts } = await open({
    answers: { 'POST /user/login': () => problem('login_failed') }
  })
  const attempt = accounts.signIn({ email: 'ada@example.com', password: 'wrong' })
  await expect(attempt).rejects.toMatchObject({ code: 'login_failed' })
  expect(sessions.$session.get()).toEqual({ status: 'out' })
  expect(browser.cookies.has('__Host-vidimus')).toBe(false)
  expect(tab.keys).toEqual({ opened: 1, closed: 1 })
})

test('refuses a token that no cookie can hold', async () => {
  const { browser, accounts } = await open({ token: makeToken({ exp, pad: 'x'.repeat(4096) }) })
  const attempt = accounts.signIn(credentials)
  await expect(attempt).rejects.toMatchObject({ code: 'unexpected_answer' })
  expect(browser.cookies.has('__Host-vidimus')).toBe(false)
})

test('takes up the session of the cookie', async () => {
  const token = makeToken({ sub: 'ada', exp })
  const { sessions, users } = await open({ cookie: token })
  sessions.restoreSession()
  sessions.restoreSession()
  expect(sessions.$session.get()).toEqual({ status: 'in', token })
  expect(users.hasFeatureOrPermission('deposit')).toBe(false)
  await vi.waitFor(() => expect(users.hasFeatureOrPermission('deposit')).toBe(true))
  expect(users.hasFeatureOrPermission('admin')).toBe(false)
})

test('finds a feature and a permission by name, and nothing in nobody', async () => {
  const { sessions, users } = await open({
    cookie: makeToken({ sub: 'ada', exp }),
    answers: { 'GET /user': () => Response.json({ ...ada, permissions: ['admin'] }) }
  })
  const asked = () => ['deposit', 'admin', 'operator', 'dep', ''].map(users.hasFeatureOrPermission)
  expect(asked()).toEqual([false, false, false, false, false])
  sessions.restoreSession()
  await vi.waitFor(() => expect(users.$user.get()).toBeDefined())
  expect(asked()).toEqual([true, true, false, false, false])
  await sessions.signOut()
  expect(asked()).toEqual([false, false, false, false, false])
})

test.for([
  ['ends in one second', makeToken({ exp: start / 1000 + 1 })],
  ['has ended', makeToken({ exp: start / 1000 - 60 })],
  ['says no end', makeToken({ sub: 'ada' })],
  ['is no token', 'nonsense']
] as const)(
  'drops a cookie whose token %s, and what was kept of the person',
  async ([, cookie]) => {
    const { browser, tab, sessions } = await open({ cookie })
    browser.storage.set('vidimus:user', '{}')
    sessions.restoreSession()
    expect(sessions.$session.get()).toEqual({ status: 'out' })
    expect(browser.cookies.has('__Host-vidimus')).toBe(false)
    expect(browser.storage.has('vidimus:user')).toBe(false)
    expect(tab.calls).toEqual([])
  }
)

test('signs out one second before the token ends', async () => {
  const end = start / 1000 + 20
  const { browser, sessions } = await open({ cookie: makeToken({ sub: 'ada', exp: end }) })
  sessions.restoreSession()
  browser.advance(18_000)
  expect(sessions.$session.get().status).toBe('in')
  browser.advance(1000)
  expect(sessions.$session.get().status).toBe('out')
  expect(browser.cookies.has('__Host-vidimus')).toBe(false)
})

test('loads the person every 30 seconds and as soon as one comes back', async () => {
  const { browser, tab } = await openSignedIn()
  await vi.waitFor(() => expect(tab.calls).toHaveLength(1))
  browser.advance(29_000)
  expect(tab.calls).toHaveLength(1)
  browser.advance(1000)
  await vi.waitFor(() => expect(tab.calls).toHaveLength(2))
  tab.wake()
  await vi.waitFor(() => expect(tab.calls).toHaveLength(3))
  browser.advance(30_000)
  await vi.waitFor(() => expect(tab.calls).toHaveLength(4))
})

test('replaces the token by the one that comes with the person', async () => {
  const renewed = makeToken({ sub: 'ada', exp: exp + 1800 })
  const { browser, sessions } = await openSignedIn({
    'GET /user': () => Response.json({ ...ada, access_token: renewed })
  })
  await vi.waitFor(() => expect(sessions.sessionToken()).toBe(renewed))
  expect(browser.cookies.get('__Host-vidimus')?.value).toBe(renewed)
})

test('stays signed in for as long as the page is open and the server renews', async () => {
  const browser = makeBrowser({ now: start })
  const renewed = () => makeToken({ sub: 'ada', exp: Math.floor(browser.now() / 1000) + 3600 })
  const { sessions } = await open({
    browser,
    cookie: renewed(),
    answers: { 'GET /user': () => Response.json({ ...ada, access_token: renewed() }) }
  })
  sessions.restoreSession()
  for (let minutes = 0; minutes < 180; minutes += 20) {
    browser.advance(20 * 60_000)
    await vi.waitFor(() => expect(sessions.sessionToken()).toBe(renewed()))
  }
})

test('asks by itself near the end of the token when the tab that asks for all is frozen', async () => {
  const cookie = makeToken({ sub: 'ada', exp })
  const leader = await open({ cookie, answers: { 'GET /user': () => problem('unavailable') } })
  leader.sessions.restoreSession()
  let answer = () => problem('unavailable')
  const { browser } = leader
  const hidden = await open({ browser, answers: { 'GET /user': () => answer() } })
  hidden.sessions.restoreSession()
  hidden.tab.show(false)
  leader.tab.freeze()
  await vi.waitFor(() => expect(hidden.tab.calls).toHaveLength(1))
  browser.advance(3_299_000)
  expect(hidden.tab.calls).toHaveLength(1)
  browser.advance(1000)
  await vi.waitFor(() => expect(hidden.tab.calls).toHaveLength(2))
  const renewed = makeToken({ sub: 'ada', exp: exp + 3300 })
  answer = () => Response.json({ ...ada, access_token: renewed })
  await vi.waitFor(() => {
    browser.advance(30_000)
    expect(hidden.sessions.sessionToken()).toBe(renewed)
  })
  browser.advance(600_000)
  expect(hidden.sessions.$session.get().status).toBe('in')
})

test('signs out on a 401 of any call', async () => {
  const { browser, sessions, users } = await openSignedIn({
    'PUT /user': () => problem('unauthenticated')
  })
  await vi.waitFor(() => expect(users.$user.get()).toBeDefined())
  await expect(users.saveLanguageToAccount('fr')).rejects.toMatchObject({ code: 'unauthenticated' })
  expect(sessions.$session.get()).toEqual({ status: 'out' })
  expect(users.$user.get()).toBeUndefined()
  expect(browser.cookies.has('__Host-vidimus')).toBe(false)
  expect(browser.storage.has('vidimus:user')).toBe(false)
})

test('stays signed in when the 401 answers a token that has been replaced', async () => {
  const { sessions } = await openSignedIn()
  const old = sessions.sessionToken()
  sessions.replaceToken(makeToken({ sub: 'ada', exp: exp + 1800 }))
  sessions.handleAuthError(new AppError('unauthenticated', 'late'), old)
  expect(sessions.$session.get().status).toBe('in')
})

test('leads a disabled person to the notice, with the details, but not from there', async () => {
  const error = new AppError('account_disabled', 'off', { disabled })
  const elsewhere = await open({ url: 'https://docs.example/fr/history' })
  elsewhere.sessions.handleAuthError(error, undefined)
  const target = new URL(elsewhere.tab.replaced[0] ?? '', 'https://docs.example')
  expect(target.pathname).toBe('/fr/disabled')
  expect(JSON.parse(target.searchParams.get('disabled') ?? '')).toEqual(disabled)
  const there = await open({ url: 'https://docs.example/fr/disabled?disabled=%7B%7D' })
  there.sessions.handleAuthError(error, undefined)
  expect(there.tab.replaced).toEqual([])
})

test('marks the person blocked when the user call says so, and no more once it lets them in', async () => {
  let answer = () => problem('account_disabled', { disabled })
  const { tab, sessions, users } = await openSignedIn({ 'GET /user': () => answer() })
  await vi.waitFor(() => expect(users.$disabledState.get()).toEqual(disabled))
  expect(users.$user.get()).toBeUndefined()
  expect(sessions.$session.get().status).toBe('in')
  expect(tab.replaced[0]).toMatch(/^\/en\/disabled\?disabled=/)
  answer = () => problem('unavailable')
  await users.refreshUser()
  expect(users.$disabledState.get()).toEqual(disabled)
  answer = () => Response.json(ada)
  await users.refreshUser()
  expect(users.$disabledState.get()).toBeUndefined()
  expect(users.$user.get()).toBeDefined()
})

test('leads to the notice from any other call, and marks nobody blocked for it', async () => {
  const disabled = { scope: 'company', reason: 'payment', since: '2026-05-01T00:00:00Z' } as const
  const { tab, users } = await openSignedIn({
    'PUT /user': () => problem('account_disabled', { disabled })
  })
  await vi.waitFor(() => expect(users.$user.get()).toBeDefined())
  await expect(users.changeUsername('Ada')).rejects.toMatchObject({ code: 'account_disabled' })
  expect(tab.replaced).toHaveLength(1)
  expect(users.$disabledState.get()).toBeUndefined()
})

test.each([
  { code: 'forbidden', disabled },
  { code: 'a_code_of_tomorrow', disabled: { scope: 'team' } },
  { disabled: {} }
])('is led to the notice by the disabled object of a 403 alone: %j', async body => {
  const { tab, users } = await openSignedIn({
    'GET /user': () => Response.json(body, { status: 403 })
  })
  await vi.waitFor(() => expect(users.$disabledState.get()).toEqual(body.disabled))
  const target = new URL(tab.replaced[0] ?? '', 'https://docs.example')
  expect(target.pathname).toBe('/en/disabled')
  expect(JSON.parse(target.searchParams.get('disabled') ?? '')).toEqual(body.disabled)
})

test('is blocked no longer once signed out', async () => {
  const { sessions, users } = await openSignedIn({
    'GET /user': () => problem('account_disabled', { disabled })
  })
  await vi.waitFor(() => expect(users.$disabledState.get()).toBeDefined())
  await sessions.signOut()
  expect(users.$disabledState.get()).toBeUndefined()
})

test('signs out here, in the other tab and on the server', async () => {
  const token = makeToken({ sub: 'ada', exp })
  const here = await open({ cookie: token })
  const there = await open({ browser: here.browser })
  here.sessions.restoreSession()
  there.sessions.restoreSession()
  await vi.waitFor(() => expect(there.users.$user.get()).toBeDefined())
  await here.sessions.signOut()
  expect(here.tab.calls.at(-1)).toMatchObject({ path: '/user/logout', token: `Bearer ${token}` })
  for (const { sessions, users } of [here, there]) {
    expect(sessions.$session.get()).toEqual({ status: 'out' })
    expect(users.$user.get()).toBeUndefined()
  }
  expect(here.browser.cookies.has('__Host-vidimus')).toBe(false)
  expect(here.browser.storage.has('vidimus:user')).toBe(false)
})

test('an answer about the person that comes after the sign-out is dropped', async () => {
  const answer = Promise.withResolvers<Response>()
  const { browser, sessions, users } = await openSignedIn({ 'PUT /user': () => answer.promise })
  await vi.waitFor(() => expect(users.$user.get()).toBeDefined())
  const renamed = users.changeUsername('Ada King')
  await sessions.signOut()
  answer.resolve(Response.json({ ...ada, username: 'Ada King' }))
  await renamed
  expect(users.$user.get()).toBeUndefined()
  expect(browser.storage.has('vidimus:user')).toBe(false)
})

test('is signed out even when the server cannot be told', async () => {
  const { sessions } = await openSignedIn({
    'POST /user/logout': () => Promise.reject(new TypeError('no network'))
  })
  await sessions.signOut()
  expect(sessions.$session.get()).toEqual({ status: 'out' })
})

test('follows a sign-in of another tab, and forgets the person before', async () => {
  const here = await open({ cookie: makeToken({ sub: 'ada', exp }) })
  here.sessions.restoreSession()
  const departed = vi.fn()
  here.sessions.addSessionEndListener(departed)
  const token = makeToken({ sub: 'bob', exp })
  const there = await open({ browser: here.browser, token })
  there.sessions.restoreSession()
  await there.accounts.signIn({ email: 'bob@example.com', password: 'secret' })
  expect(departed).toHaveBeenCalledOnce()
  expect(here.sessions.sessionToken()).toBe(token)
})

test('keeps the session while another tab holds a fresher token', async () => {
  const here = await open({ cookie: makeToken({ sub: 'ada', exp: start / 1000 + 20 }) })
  here.sessions.restoreSession()
  const fresher = makeToken({ sub: 'ada', exp })
  here.browser.cookies.set('__Host-vidimus', { value: fresher, attributes: [] })
  here.browser.advance(19_000)
  expect(here.sessions.sessionToken()).toBe(fresher)
})

test('says so where the browser blocks cookies, and ends the session on the server', async () => {
  const { tab, accounts, sessions } = await open({})
  tab.environment.writeCookie = () => {}
  await expect(accounts.signIn(credentials)).rejects.toMatchObject({ code: 'cookies_blocked' })
  expect(sessions.$session.get()).toEqual({ status: 'out' })
  await vi.waitFor(() => expect(tab.calls.at(-1)?.path).toBe('/user/logout'))
})

test('follows the language of the account at each load', async () => {
  let locale = 'fr'
  const { browser, tab, sessions, users } = await open({
    cookie: makeToken({ sub: 'ada', exp }),
    answers: { 'GET /user': () => Response.json({ ...ada, locale }) }
  })
  sessions.restoreSession()
  await vi.waitFor(() => expect(users.localeToFollow()).toBe('fr'))
  expect(browser.cookies.get('i18n_redirected')?.value).toBe('fr')
  expect(browser.storage.get('vidimus:user')).toContain('"locale":"fr"')
  // changed on another device
  locale = 'en'
  browser.advance(30_000)
  await vi.waitFor(() => expect(users.localeToFollow()).toBe('en'))
  expect(browser.cookies.get('i18n_redirected')?.value).toBe('en')
  expect(tab.calls.map(({ method }) => method)).toEqual(['GET', 'GET'])
})

test('keeps a language that was picked in this browser, and saves it in the account', async () => {
  let isReachable = false
  let locale = 'fr'
  const { browser, tab, sessions, users } = await open({
    cookie: makeToken({ sub: 'ada', exp }),
    answers: {
      'GET /user': () => Response.json({ ...ada, locale }),
      'PUT /user': () => {
        if (!isReachable) return problem('internal')
        locale = 'en'
        return Response.json(ada)
      }
    }
  })
  browser.storage.set('vidimus:language', 'en')
  sessions.restoreSession()
  await vi.waitFor(() => expect(tab.calls).toHaveLength(2))
  expect(tab.calls[1]).toMatchObject({ method: 'PUT', body: { locale: 'en' } })
  expect(users.localeToFollow()).toBe('en')
  isReachable = true
  browser.advance(30_000)
  await vi.waitFor(() => expect(browser.storage.has('vidimus:language')).toBe(false))
  expect(users.$user.get()?.locale).toBe('en')
})

test('saves a language that was picked while signed out, at the next sign-in', async () => {
  let locale = 'fr'
  const { browser, tab, accounts, addressAfterSignIn } = await open({
    url: `https://docs.example/en/sign-in${redirect('/fr/history')}`,
    answers: {
      'GET /user': () => Response.json({ ...ada, locale }),
      'PUT /user': () => {
        locale = 'en'
        return Response.json(ada)
      }
    }
  })
  browser.storage.set('vidimus:language', 'en')
  await accounts.signIn(credentials)
  expect(tab.calls.at(-1)).toMatchObject({ method: 'PUT', body: { locale: 'en' } })
  expect(addressAfterSignIn()).toBe('https://docs.example/en/history')
  expect(browser.storage.has('vidimus:language')).toBe(false)
})

test('shows nothing that was read before a change of the account', async () => {
  const { promise: late, resolve: answer } = Promise.withResolvers<Response>()
  let answers = 0
  const { tab, sessions, users } = await open({
    cookie: makeToken({ sub: 'ada', exp }),
    answers: {
      'GET /user': () => (++answers === 2 ? late : Response.json(ada)),
      'PUT /user': () => Response.json({ ...ada, locale: 'fr' })
    }
  })
  sessions.restoreSession()
  await vi.waitFor(() => expect(users.$user.get()?.locale).toBe('en'))
  const load = users.refreshUser()
  await vi.waitFor(() => expect(tab.calls).toHaveLength(2))
  await users.saveLanguageToAccount('fr')
  answer(Response.json(ada))
  await load
  expect(users.$user.get()?.locale).toBe('fr')
})

test('saves the language of the page for a person who has none', async () => {
  const { tab, sessions, users } = await open({
    url: 'https://docs.example/fr/history',
    cookie: makeToken({ sub: 'ada', exp }),
    answers: {
      'GET /user': () => Response.json({ ...ada, locale: 'und' }),
      'PUT /user': () => Response.json({ ...ada, locale: 'fr' })
    }
  })
  sessions.restoreSession()
  await vi.waitFor(() => expect(users.$user.get()?.locale).toBe('fr'))
  expect(tab.calls[1]).toMatchObject({ method: 'PUT', body: { locale: 'fr' } })
  expect(tab.replaced).toEqual([])
})

test.for([
  ['', '/en'],
  [redirect('/en/history', '?a=1', '#b'), '/en/history?a=1#b'],
  [redirect('/fr/verify'), '/en/verify'],
  [redirect('/'), '/en'],
  [redirect('/en/sign-up'), '/en'],
  [redirect('/..//evil.example'), '/en'],
  [redirect('//evil.example'), '/en'],
  ['?redirect=nonsense', '/en']
] as const)('leads back after signing in: %s → %s', async ([search, target]) => {
  const { addressAfterSignIn } = await open({ url: `https://docs.example/en/sign-in${search}` })
  expect(addressAfterSignIn()).toBe(`https://docs.example${target}`)
})

test('leads back in the language of the person, and leaves the sign-in page as it is', async () => {
  const { accounts, addressAfterSignIn, users } = await open({
    url: `https://docs.example/en/sign-in${redirect('/en/history')}`,
    answers: { 'GET /user': () => Response.json({ ...ada, locale: 'fr' }) }
  })
  await accounts.signIn(credentials)
  expect(addressAfterSignIn()).toBe('https://docs.example/fr/history')
  expect(users.localeToFollow()).toBeUndefined()
})

test('leads a sign-up to where its mail is waited for, and from there on', async () => {
  const there = redirect('/en/history', '?a=1')
  const { accounts, addressAfterSignIn } = await open({
    url: `https://docs.example/en/sign-up${there}`,
    answers: { 'GET /user': () => Response.json({ ...ada, pending: true }) }
  })
  await accounts.signIn(credentials)
  const { origin, pathname, searchParams } = new URL(addressAfterSignIn())
  expect([origin, pathname]).toEqual(['https://docs.example', '/en/verify-account'])
  expect(searchParams.get('redirect')).toBe(new URLSearchParams(there).get('redirect'))
})

//
test.for([-86_400, 86_400])(
  'keeps a session for its hour on a device whose clock is %d s ahead',
  async ahead => {
    const iat = start / 1000 - ahead
    const token = makeToken({ sub: 'ada', iat, exp: iat + 3600 })
    const { browser, sessions, accounts } = await open({ token })
    await accounts.signIn(credentials)
    expect(sessions.$session.get().status).toBe('in')
    expect(browser.cookies.get('__Host-vidimus')?.attributes).toContain('Max-Age=3600')

    // a page that loads later takes the session up
    const later = await open({ browser })
    later.sessions.restoreSession()
    expect(later.sessions.sessionToken()).toBe(token)
    browser.advance(3_598_000)
    expect(later.sessions.$session.get().status).toBe('in')
    browser.advance(1000)
    expect(later.sessions.$session.get().status).toBe('out')
  }
)

test('tells at the next login that this browser has signed in before', async () => {
  const { tab, accounts } = await open({})
  await accounts.signIn(credentials)
  await accounts.signIn(credentials)
  const bodies = tab.calls.filter(call => call.path === '/user/login').map(call => call.body)
  expect(bodies[0]).not.toHaveProperty('device')
  expect(bodies[1]).toHaveProperty('device', 'device-mark')
})

test('changes the password: the old key answers, the new one proves itself', async () => {
  const { tab, sessions, changes } = await openSignedIn({
    'POST /user/key': () => new Response(null, { status: 204 })
  })
  const input = {
    email: 'ada@example.com',
    password: 'secret',
    next: 'another secret',
    keepsKeys: false
  }
  await changes.changePassword(input)
  expect(tab.calls.at(-1)).toMatchObject({
    path: '/user/key',
    body: {
      challenge_response: 'rekey-challenge.rekey@localhost',
      public_key_jwt: 'rekey-challenge.rekey@localhost'
    }
  })
  expect(tab.keys).toEqual({ opened: 2, closed: 2 })
  expect(sessions.$session.get().status).toBe('in')
})

test('stays signed in and closes both keys when the present password is wrong', async () => {
  const { tab, sessions, changes } = await openSignedIn({
    'POST /user/key': () => problem('password_wrong')
  })
  const input = {
    email: 'ada@example.com',
    password: 'wrong',
    next: 'another secret',
    keepsKeys: false
  }
  await expect(changes.changePassword(input)).rejects.toMatchObject({ code: 'password_wrong' })
  expect(tab.keys).toEqual({ opened: 2, closed: 2 })
  expect(sessions.$session.get().status).toBe('in')
})

test('signs out everywhere, and stays signed in where the server cannot be told', async () => {
  let answer: () => Response = () => problem('unavailable')
  const { browser, tab, sessions } = await openSignedIn({ 'POST /user/logout': () => answer() })
  await expect(sessions.signOutEverywhere()).rejects.toMatchObject({ code: 'unavailable' })
  expect(sessions.$session.get().status).toBe('in')
  answer = () => new Response(null, { status: 204 })
  await sessions.signOutEverywhere()
  expect(tab.calls.at(-1)).toMatchObject({ path: '/user/logout', body: { all: true } })
  expect(sessions.$session.get()).toEqual({ status: 'out' })
  expect(browser.cookies.has('__Host-vidimus')).toBe(false)
})

interface Opening {
  url?: string
  browser?: ReturnType<typeof makeBrowser>
  cookie?: string
  /** The token that the answer to a login contains. */
  token?: string
  answers?: Record<string, () => Response | Promise<Response>>
}

/** Opens a tab with its own copy of the modules, in a browser that other tabs may share. */
async function open(opening: Opening) {
  const { url = 'http://localhost:4321/en', token = makeToken({ sub: 'ada', exp }) } = opening
  const browser = opening.browser ?? makeBrowser({ now: start })
  if (opening.cookie) {
    browser.cookies.set('__Host-vidimus', { value: opening.cookie, attributes: [] })
  }
  const answers: Record<string, () => Response | Promise<Response>> = {
    'POST /user': () => Response.json({ id: ada.id }, { status: 201 }),
    'POST /user/login': () => Response.json({ access_token: token, device: 'device-mark' }),
    'POST /user/logout': () => new Response(null, { status: 204 }),
    'GET /user': () => Response.json(ada),
    ...opening.answers
  }
  const tab = browser.openTab(url, request => {
    const { pathname, searchParams } = new URL(request.url)
    if (pathname === '/user/login/challenge') {
      return Response.json({ challenge: `${searchParams.get('purpose')}-challenge`, kdf: 'a1' })
    }
    return answers[`${request.method} ${pathname}`]?.() ?? problem('not_found')
  })
  vi.resetModules()
  const { setBrowserEnvironment } = await import('../../../src/stores/environment.ts')
  setBrowserEnvironment(tab.environment)
  const sessions = await import('../../../src/stores/sessions.ts')
  const accounts = await import('../../../src/stores/accounts/accounts.ts')
  const changes = await import('../../../src/stores/accounts/account-changes.ts')
  const users = await import('../../../src/stores/signed-in-user.ts')
  const { addressAfterSignIn } = await import('../../../src/stores/accounts/after-sign-in.ts')
  return { browser, tab, accounts, addressAfterSignIn, changes, sessions, users }
}

async function openSignedIn(answers: Opening['answers'] = {}) {
  const opened = await open({ cookie: makeToken({ sub: 'ada', exp }), answers })
  opened.sessions.restoreSession()
  return opened
}

function redirect(path: string, query = '', hash = ''): string {
  return `?${new URLSearchParams({ redirect: JSON.stringify({ path, query, hash }) })}`
}

function problem(code: ErrorCode, details: { disabled?: DisabledState } = {}): Response {
  const body = toProblem(new AppError(code, 'test', details))
  return Response.json(body, { status: body.status })
}
