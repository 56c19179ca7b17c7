import { expect, test } from 'vitest'
import { isCrawler } from '../../../src/site/visitors.ts'

test.each([
  'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
  'Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)',
  'AdsBot-Google (+http://www.google.com/adsbot.html)',
  'Mediapartners-Google',
  'Mozilla/5.0 (compatible; Google-InspectionTool/1.0)',
  'DuckDuckBot/1.1',
  'Mozilla/5.0 (compatible; YandexBot/3.0)',
  'Mozilla/5.0 (compatible; Baiduspider/2.0)',
  'Mozilla/5.0 (compatible; Yahoo! Slurp)',
  'Sogou web spider/4.0',
  'Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2)',
  'CCBot/2.0',
  'ia_archiver',
  'facebookexternalhit/1.1',
  'meta-externalagent/1.1',
  'Twitterbot/1.0',
  'WhatsApp/2.23',
  'Mozilla/5.0 (Windows NT 6.1) BingPreview/1.0b'
])('knows %.60s', agent => expect(isCrawler({ 'user-agent': agent })).toBe(true))

test.each([
  undefined,
  '',
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/159.0.0.0 Safari/537.36',
  'Mozilla/5.0 (X11; Linux x86_64; rv:150.0) Gecko/20100101 Firefox/150.0',
  'Mozilla/5.0 (iPhone; CPU iPhone OS 26_0 like Mac OS X) AppleWebKit/605.1.15 Safari/604.1',
  'Mozilla/5.0 (Linux; Android 9; CUBOT X19) AppleWebKit/537.36 Chrome/120.0 Mobile Safari/537.36',
  'Mozilla/5.0 (Linux; Android 11) Chrome/159.0.0.0 Mobile Chrome-Lighthouse'
])('takes %.60s for a person', agent =>
  expect(isCrawler(agent === undefined ? {} : { 'user-agent': agent })).toBe(false)
)
