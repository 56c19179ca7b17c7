import { useRef } from 'react'
import type { Group } from '../../contract/groups.ts'
import { formatBytes, formatDateTime } from '../../core/text/format.ts'
import { fieldLabel } from '../../i18n/field-label.ts'
import type { Locale, Translate } from '../../i18n/index.ts'
import { type GroupChanges, reloadGroup, updateGroup } from '../../stores/admin/groups.ts'
import { ButtonWithNote } from '../forms/ButtonWithNote.tsx'
import { EditConflict } from '../forms/EditConflict.tsx'
import { SettingsSection } from '../forms/SettingsSection.tsx'
import { useVersionedSave, type VersionedSaveOptions } from '../forms/use-versioned-save.ts'
import { Meter, usedFraction } from '../kit/Meter.tsx'
import { Section } from '../kit/Section.tsx'
import { showMessage } from '../kit/show-message.ts'
import { useAction } from '../kit/use-action.ts'
import { useTranslation } from '../kit/use-translation.ts'
import { LimitEditor } from '../limits/LimitEditor.tsx'
import { describeRequestLimit, describeStorageLimit } from '../limits/LimitFields.tsx'
import { GroupFields, groupFromForm } from './GroupFields.tsx'

interface GroupProps {
  group: Group
}

export function GroupSettings({ group }: GroupProps) {
  const { locale, t } = useTranslation()
  const title = useRef<HTMLHeadingElement>(null)
  const source = versionsOf(group)
  const limits = useVersionedSave(source)
  const wordsOf = (name: string, value: unknown) => valueWords(name, value, locale, t)
  return (
    <>
      <SettingsSection<Group>
        {...source}
        wordsOf={wordsOf}
        id="group-settings"
        title={t('groups.settings')}
        item={group}
        call="updateGroup"
        what="Saving the group failed"
        codeErrors={{ name_taken: { name: { rule: 'taken' } } }}
        words={key => t(`groups.${key}`)}
        shown={<Shown group={group} />}
        className="max-w-md gap-4"
        fields={was => <GroupFields group={was} />}
        read={groupFromForm}
      >
        {!group.is_default && <MakeDefault group={group} />}
      </SettingsSection>
      <EditConflict versioned={limits} title={title} wordsOf={wordsOf} />
      <Section
        id="group-limits"
        ref={title}
        title={t('groups.limits')}
        note={t('groups.limitsNote')}
      >
        <LimitEditor
          limits={group}
          usage={group.usage}
          update={limits.conflict ? undefined : (changes, was) => limits.change(was, changes)}
        />
        <Usage group={group} />
      </Section>
    </>
  )
}

function versionsOf({ id }: Group): VersionedSaveOptions<Group, Partial<Group>> {
  return {
    // as: the forms have the fields of `GroupChanges`
    save: (changes, version) => updateGroup(id, changes as GroupChanges, version),
    load: () => reloadGroup(id)
  }
}

function Shown({ group }: GroupProps) {
  const { locale, t } = useTranslation()
  const { name, features, is_default } = group
  return (
    <>
      <dl className="grid gap-x-4 gap-y-1 sm:grid-cols-[auto_1fr]">
        <dt className="text-ink-soft">{fieldLabel('name', locale)}</dt>
        <dd className="wrap-anywhere">{name}</dd>
        <dt className="text-ink-soft">{fieldLabel('features', locale)}</dt>
        <dd>{featureWords(features, t)}</dd>
      </dl>
      {is_default && <p className="text-ink-soft">{t('groups.isDefault')}</p>}
    </>
  )
}

function MakeDefault({ group }: GroupProps) {
  const { t } = useTranslation()
  // only `true` can be saved, so no conflict is possible
  const { change } = useVersionedSave(versionsOf(group))
  const action = useAction({
    what: 'Changing the default group failed',
    async send() {
      await change(group, { is_default: true })
      showMessage(t('groups.madeDefault', { group: group.name }))
      // the button that was pressed is gone
      document.getElementById('group-settings')?.focus()
    }
  })
  return (
    <ButtonWithNote
      label={t('groups.makeDefault')}
      note={t('groups.makeDefaultNote')}
      action={action}
    />
  )
}

function Usage({ group }: GroupProps) {
  const { locale, t } = useTranslation()
  const { max_requests, max_storage, usage } = group
  const { requests_used, storage_used, resets_at } = usage
  const used = (amount: string, limit: string | undefined) =>
    limit === undefined
      ? t('groups.usage.used', { used: amount })
      : t('groups.usage.of', { used: amount, limit })
  const count = new Intl.NumberFormat(locale)
  return (
    <section className="flex flex-col gap-3" aria-labelledby="group-usage">
      <h3 id="group-usage" className="font-semibold">
        {t('groups.usage.title')}
      </h3>
      <Meter
        label={t('groups.usage.requests')}
        words={used(
          count.format(requests_used),
          max_requests === null ? undefined : count.format(max_requests)
        )}
        share={usedFraction(requests_used, max_requests)}
      />
      {resets_at && (
        <p className="meta">
          {t('groups.usage.resets', { time: formatDateTime(new Date(resets_at), locale) })}
        </p>
      )}
      <Meter
        label={t('groups.usage.storage')}
        words={used(
          formatBytes(storage_used, locale),
          max_storage === null ? undefined : formatBytes(max_storage, locale)
        )}
        share={usedFraction(storage_used, max_storage)}
      />
    </section>
  )
}

function featureWords(features: Group['features'], t: Translate): string {
  return features.length === 0
    ? t('groups.noFeatures')
    : features.map(feature => t(`groups.featureNames.${feature}`)).join(', ')
}

function valueWords(name: string, value: unknown, locale: Locale, t: Translate): string {
  // as: the fields of the forms
  switch (name as keyof Group) {
    case 'features':
      return featureWords(value as Group['features'], t)
    case 'max_requests':
      return describeRequestLimit(
        { max_requests: value as number | null, max_requests_interval: null },
        t
      )
    case 'max_requests_interval':
      return t(`limits.periods.${(value as Group['max_requests_interval']) ?? 'total'}`)
    case 'max_storage':
      return describeStorageLimit(value as number | null, locale, t)
    default:
      return String(value)
  }
}
