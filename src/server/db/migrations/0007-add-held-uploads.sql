-- Deposits that we owe and could not make after several attempts wait here for the operator.
alter table upload
  drop constraint upload_state_check,
  add constraint upload_state_check check (state in ('uploading', 'received', 'held', 'settled')),
  add column held_at timestamptz,
  -- the last failure of an attempt, for the operator
  add column failure text,
  -- bytes of the reservation that went back because none came for a while
  add column released bigint not null default 0 check (released between 0 and size);

-- How many uploads a person has open is asked with every new one.
create index upload_of_person on upload (company_id, user_id) where state = 'uploading';

-- What is forgotten after a week is found without reading what stays.
create index idempotency_age on idempotency (company_id, created_at);

-- Names of categories enter the record, which takes NFC, no control characters and 255 bytes. The owner
-- of the tables is bound by row-level security where it is no superuser, so this is lifted meanwhile.
alter table category no force row level security;
update category c
  set names = jsonb_build_object('en', coalesce(en, fr, 'Documents'), 'fr', coalesce(fr, en, 'Documents'))
  from (
    select company_id, id,
      max(name) filter (where locale = 'en') as en, max(name) filter (where locale = 'fr') as fr
    from (
      select company_id, id, locale, case when octet_length(clean) > 255 then left(clean, 63) else nullif(clean, '') end as name
      from category, unnest(array['en', 'fr']) as locale,
        lateral (select normalize(regexp_replace(names->>locale, '[\u0001-\u001f\u007f-\u009f]', ' ', 'g'), NFC) as clean) as cleaned
    ) as single
    group by company_id, id
  ) as both_names
  where c.company_id = both_names.company_id and c.id = both_names.id;
alter table category force row level security;
alter table category add constraint category_names check (
  coalesce(
    jsonb_typeof(names->'en') = 'string' and jsonb_typeof(names->'fr') = 'string'
      and octet_length(names->>'en') between 1 and 255 and octet_length(names->>'fr') between 1 and 255
      and (names->>'en') is nfc normalized and (names->>'fr') is nfc normalized
      and (names->>'en') !~ '[\u0001-\u001f\u007f-\u009f]' and (names->>'fr') !~ '[\u0001-\u001f\u007f-\u009f]',
    false
  )
);
