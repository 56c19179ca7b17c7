import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import { type DomainThemes, Theme, type ThemeChanges } from '../../../contract/domains.ts'
import { AppError } from '../../../contract/kit/errors.ts'
import { formatDigest } from '../../../core/evidence/formats.ts'
import { colorCorrections } from '../../../core/theme/theme-colors.ts'
import {
  deleteInCompany,
  selectById,
  selectInCompany,
  updateById
} from '../../db/company-queries.ts'
import { joinInCompany } from '../../db/joins.ts'
import { inCompany, type Tx } from '../../db/scope.ts'
import { type AuditDeps, addAuditEntry } from '../audit/audit-entries.ts'
import type { CompanyId, Deps } from '../deps.ts'
import { type ExpectedVersion, requireVersion } from '../versions.ts'
import { canonicalizeThemePictures, parseStoredTheme } from './canonical-svg.ts'
import {
  type DomainCall,
  type DomainRow,
  domainNotFoundError,
  lockDomainRow
} from './domain-rows.ts'

// of a domain, with the present one
const keptVersions = 20

type ThemeCall = DomainCall & ExpectedVersion

export async function getDomainThemes(
  deps: Pick<Deps, 'db'>,
  { company_id, id }: { company_id: CompanyId; id: string }
): Promise<DomainThemes> {
  return inCompany(deps.db, company_id, tx => readThemes(tx, id))
}

export async function saveThemeDraft(
  deps: AuditDeps,
  { company_id, by, id, version, changes }: ThemeCall & { changes: ThemeChanges }
): Promise<DomainThemes> {
  return inCompany(deps.db, company_id, async tx => {
    const found = await lockDomainRow(tx, id)
    requireVersion(found.themes_version, version)
    const draft = applyThemeChanges(Theme.parse(found.draft ?? found.theme), changes)
    const saved = { draft: JSON.stringify(draft), draft_at: deps.clock(), draft_by: by.id }
    await setThemeDraft(tx, found, saved)
    return readThemes(tx, id)
  })
}

export async function deleteThemeDraft(
  deps: AuditDeps,
  { company_id, id, version }: ThemeCall
): Promise<void> {
  await inCompany(deps.db, company_id, async tx => {
    const found = await lockDomainRow(tx, id)
    requireVersion(found.themes_version, version)
    if (found.draft !== null) await setThemeDraft(tx, found, noDraft)
  })
}

export async function publishTheme(
  deps: AuditDeps & Pick<Deps, 'signals'>,
  { company_id, by, id, version }: ThemeCall
): Promise<DomainThemes> {
  return inCompany(deps.db, company_id, async tx => {
    const found = await lockDomainRow(tx, id)
    requireVersion(found.themes_version, version)
    if (found.draft === null) return readThemes(tx, id)
    const theme = Theme.parse(found.draft)
    await setThemeDraft(tx, found, noDraft)
    await storeThemeAsPublished(tx, deps, { by, domain: found, theme })
    const [before, after] = [themeForAudit(Theme.parse(found.theme)), themeForAudit(theme)]
    addAuditEntry(tx, deps, { by, action: 'domain.publish', target: id, before, after })
    tx.afterCommit(() => deps.signals.domains.send(found.host))
    return readThemes(tx, id)
  })
}

export async function publishEarlierTheme(
  deps: AuditDeps & Pick<Deps, 'signals'>,
  { company_id, by, id, version, number }: ThemeCall & { number: number }
): Promise<DomainThemes> {
  return inCompany(deps.db, company_id, async tx => {
    const found = await lockDomainRow(tx, id)
    requireVersion(found.themes_version, version)
    if (number === found.theme_number) return readThemes(tx, id)
    const kept = await versionsOf(tx, id)
      .where('number', '=', number)
      .select('theme')
      .executeTakeFirst()
    if (!kept) throw new AppError('not_found', 'This theme is not kept')
    const theme = Theme.parse(kept.theme)
    await storeThemeAsPublished(tx, deps, { by, domain: found, theme, restored: number })
    const before = { number: found.theme_number, ...themeForAudit(Theme.parse(found.theme)) }
    const after = { number, ...themeForAudit(theme) }
    addAuditEntry(tx, deps, { by, action: 'domain.restore', target: id, before, after })
    tx.afterCommit(() => deps.signals.domains.send(found.host))
    return readThemes(tx, id)
  })
}

/** Throws `svg_refused` for a picture that is not allowed. */
export function applyThemeChanges(theme: Theme, changes: ThemeChanges): Theme {
  const { logo_dark, ...rest } = changes
  const given = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined))
  const { logo_dark: present, ...kept } = theme
  const dark = logo_dark === undefined ? present : (logo_dark ?? undefined)
  return canonicalizeThemePictures({
    ...kept,
    ...given,
    ...(dark === undefined ? {} : { logo_dark: dark })
  })
}

interface Publication {
  by: DomainCall['by']
  // locked by the caller
  domain: DomainRow
  theme: Theme
  restored?: number
}

export async function storeThemeAsPublished(
  tx: Tx,
  deps: Pick<Deps, 'clock'>,
  { by, domain, theme, restored }: Publication
): Promise<void> {
  const company_id = tx.companyId
  const number = domain.theme_number + 1
  const of = { company_id, domain_id: domain.id }
  const first = { published_at: domain.created_at, published_by: null, restored: null }
  const next = { published_at: deps.clock(), published_by: by.id, restored: restored ?? null }
  await tx
    .insertInto('domain_theme')
    .values([
      { ...of, number: domain.theme_number, theme: JSON.stringify(domain.theme), ...first },
      { ...of, number, theme: JSON.stringify(theme), ...next }
    ])
    .onConflict(conflict => conflict.doNothing())
    .execute()
  await deleteInCompany(tx, 'domain_theme')
    .where('domain_id', '=', domain.id)
    .where('number', '<=', number - keptVersions)
    .execute()
  await updateById(tx, 'domain', domain.id)
    .set({
      theme: JSON.stringify(theme),
      theme_number: number,
      themes_version: sql<number>`themes_version + 1`,
      // pages are cached by this version
      version: domain.version + 1
    })
    .execute()
}

/** With a fingerprint in place of each picture. */
export function themeForAudit({ colors, logo, logo_dark, favicon }: Theme): object {
  const digest = (drawing: string) => formatDigest(createHash('sha256').update(drawing).digest())
  const dark = logo_dark === undefined ? {} : { logo_dark: digest(logo_dark) }
  return { colors, logo: digest(logo), ...dark, favicon: digest(favicon) }
}

const noDraft = { draft: null, draft_at: null, draft_by: null }

async function setThemeDraft(
  tx: Tx,
  domain: DomainRow,
  draft: { draft: string | null; draft_at: Date | null; draft_by: string | null }
): Promise<void> {
  await updateById(tx, 'domain', domain.id)
    .set({ ...draft, themes_version: domain.themes_version + 1 })
    .execute()
}

function versionsOf(tx: Tx, domain_id: string) {
  return selectInCompany(tx, 'domain_theme').where('domain_theme.domain_id', '=', domain_id)
}

async function readThemes(tx: Tx, id: string): Promise<DomainThemes> {
  const row = await selectById(tx, 'domain', id)
    .leftJoin('user', join => joinInCompany(join, 'user.id', 'domain.draft_by'))
    .select([
      'domain.theme',
      'domain.theme_number',
      'domain.themes_version',
      'domain.created_at',
      'domain.draft',
      'domain.draft_at',
      'domain.draft_by',
      'user.username'
    ])
    .executeTakeFirst()
  const stored = await versionsOf(tx, id)
    .leftJoin('user', join => joinInCompany(join, 'user.id', 'domain_theme.published_by'))
    .select(['number', 'published_at', 'published_by', 'restored', 'user.username'])
    .orderBy('number', 'desc')
    .execute()
  if (!row) throw domainNotFoundError()
  const first = {
    number: row.theme_number,
    published_at: row.created_at,
    published_by: null,
    restored: null,
    username: null
  }
  const versions = stored.length > 0 ? stored : [first]
  return {
    version: row.themes_version,
    published: { number: row.theme_number, ...withCorrections(row.theme) },
    draft:
      row.draft === null || row.draft_at === null
        ? null
        : {
            ...withCorrections(row.draft),
            saved: row.draft_at.toISOString(),
            by: authorOf(row.draft_by, row.username)
          },
    versions: versions.map(({ number, published_at, published_by, restored, username }) => ({
      number,
      published: published_at.toISOString(),
      by: authorOf(published_by, username),
      restored
    }))
  }
}

function withCorrections(stored: unknown) {
  const theme = parseStoredTheme(stored)
  return { theme, corrections: colorCorrections(theme.colors) }
}

function authorOf(id: string | null, username: string | null) {
  return id === null ? null : { id, username }
}
