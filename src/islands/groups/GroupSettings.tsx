import { type RefObject, useId, useRef, useState } from 'react'
import type { Group } from '../../contract/groups.ts'
import { formatByteLimit, formatBytes, formatDateTime } from '../../core/text/format.ts'
import type { Locale, Translate } from '../../i18n/index.ts'
import { changeGroup, type GroupChanges, reloadGroup } from '../../stores/admin/groups.ts'
import { BusyButton } from '../forms/BusyButton.tsx'
import { EditConflict } from '../forms/EditConflict.tsx'
import { InPlaceEditor, InPlaceForm } from '../forms/InPlaceEditor.tsx'
import { UnsavedGuard } from '../forms/UnsavedGuard.tsx'
import { useAction } from '../forms/use-action.ts'
import { useForm } from '../forms/use-form.ts'
import { useInputCheck } from '../forms/use-input-check.ts'
import { useVersionedSave } from '../forms/use-versioned-save.ts'
import { announce } from '../kit/announce.ts'
import { ErrorNote } from '../kit/ErrorNote.tsx'
import { Meter, usedFraction } from '../kit/Meter.tsx'
import { Section } from '../kit/Section.tsx'
import { useWords } from '../kit/use-words.ts'
import { LimitEditor } from '../limits/LimitEditor.tsx'
import { describeRequestLimit, describeStorageLimit } from '../limits/limit-words.ts'
import { GroupFields, groupFromForm } from './GroupFields.tsx'

interface GroupProps {
  group: Group
}

type Settings = Pick<
  Group,
  | 'version'
  | 'name'
  | 'features'
  | 'max_requests'
  | 'max_requests_interval'
  | 'max_storage'
  | 'is_default'
>

/**
 * Shows name, features, limits and usage of a group and lets an administrator change them. If
 * somebody else has changed the same values meanwhile, asks which to keep.
 */
export function GroupSettings({ group }: GroupProps) {
  const { t } = useWords()
  const title = useRef<HTMLHeadingElement>(null)
  const limitTitle = useRef<HTMLHeadingElement>(null)
  const settings = useVersionedGroup(group)
  const limits = useVersionedGroup(group)
  return (
    <>
      <Conflict versioned={settings} title={title} />
      <Section id="group-settings" ref={title} title={t('groups.settings')}>
        <InPlaceEditor
          label={t('groups.edit')}
          shown={<Shown group={group} />}
          isLocked={settings.conflict !== undefined}
        >
          {close => (
            <SettingsForm
              group={group}
              save={(changes, was) => settings.change(was, changes)}
              close={close}
            />
          )}
        </InPlaceEditor>
        {!group.is_default && (
          <MakeDefault
            group={group}
            save={() => settings.change(group, { is_default: true })}
            onSuccess={() => title.current?.focus()}
          />
        )}
      </Section>
      <Conflict versioned={limits} title={limitTitle} />
      <Section
        id="group-limits"
        ref={limitTitle}
        title={t('groups.limits')}
        note={t('groups.limitsNote')}
      >
        <LimitEditor
          limits={group}
          update={limits.conflict ? undefined : (changes, was) => limits.change(was, changes)}
        />
        <Usage group={group} />
      </Section>
    </>
  )
}

type VersionedGroup = ReturnType<typeof useVersionedGroup>

function useVersionedGroup({ id }: Group) {
  return useVersionedSave<Settings, Partial<Settings>>({
    save: (changes, version) => changeGroup(id, changes as GroupChanges, version),
    load: () => reloadGroup(id)
  })
}

interface ConflictProps {
  versioned: VersionedGroup
  /** Gets the focus when the conflict is resolved. */
  title: RefObject<HTMLHeadingElement | null>
}

function Conflict({ versioned, title }: ConflictProps) {
  const { locale, t } = useWords()
  const labels: Record<string, string> = {
    name: t('groups.name'),
    features: t('groups.features'),
    max_requests: t('limits.requests'),
    max_requests_interval: t('limits.period'),
    max_storage: t('limits.storage')
  }
  return (
    <EditConflict
      versioned={versioned}
      title={title}
      labelOf={name => labels[name] ?? name}
      wordsOf={(name, value) => wordsOf(name, value, locale, t)}
    />
  )
}

function Shown({ group }: GroupProps) {
  const { t } = useWords()
  const { name, features, is_default } = group
  return (
    <>
      <dl className="grid gap-x-4 gap-y-1 sm:grid-cols-[auto_1fr]">
        <dt className="text-ink-soft">{t('groups.name')}</dt>
        <dd className="wrap-anywhere">{name}</dd>
        <dt className="text-ink-soft">{t('groups.features')}</dt>
        <dd>{featureWords(features, t)}</dd>
      </dl>
      {is_default && <p className="text-ink-soft">{t('groups.isDefault')}</p>}
    </>
  )
}

interface MakeDefaultProps extends GroupProps {
  save: () => Promise<void>
  onSuccess: () => void
}

/** A button that makes a group the default group, which new people join. */
function MakeDefault({ group, save, onSuccess }: MakeDefaultProps) {
  const { t } = useWords()
  const id = useId()
  const action = useAction({
    what: 'Changing the default group failed',
    async send() {
      await save()
      announce(t('groups.madeDefault', { group: group.name }))
      // the button that was pressed is gone
      onSuccess()
    }
  })
  return (
    <div className="flex flex-col items-start gap-2">
      {action.failure && <ErrorNote error={action.failure} />}
      <BusyButton
        label={t('groups.makeDefault')}
        look="btn-outline btn-sm"
        isWorking={action.isWorking}
        describedBy={id}
        onClick={() => void action.start(undefined)}
      />
      <p id={id} className="meta">
        {t('groups.makeDefaultNote')}
      </p>
    </div>
  )
}

interface SettingsFormProps extends GroupProps {
  /** Saves changes. `was` is the group as it was when the form was opened. */
  save: (changes: Partial<Settings>, was: Group) => Promise<void>
  close: () => void
}

function SettingsForm({ group, save, close }: SettingsFormProps) {
  const { t } = useWords()
  // the group may change while the form is open
  const [was] = useState(group)
  const check = useInputCheck('updateGroup')
  const form = useForm({
    what: 'Saving the group failed',
    inputErrors: values => check({ ...groupFromForm(values), id: was.id }),
    codeErrors: { name_taken: { name: { rule: 'taken' } } },
    async send(values) {
      await save(groupFromForm(values), was)
      close()
    }
  })
  return (
    <>
      <InPlaceForm
        form={form}
        submit={t('groups.save')}
        className="max-w-md gap-4"
        cancel={t('groups.cancel')}
        close={close}
      >
        <GroupFields form={form} group={was} />
      </InPlaceForm>
      <UnsavedGuard form={form} />
    </>
  )
}

function Usage({ group }: GroupProps) {
  const { locale, t } = useWords()
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
          max_storage === null ? undefined : formatByteLimit(max_storage, locale)
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

/** Describes a value of a setting, to compare it with another one. */
function wordsOf(name: string, value: unknown, locale: Locale, t: Translate): string {
  // as: the fields of `Settings`
  switch (name as keyof Settings) {
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
