-- What a category asks of its documents: `store` says whether bytes are kept or the fingerprint alone.
alter table category
  add column keep_originals boolean not null default false,
  add column store text not null default 'file' check (store in ('file', 'fingerprint')),
  -- null = any; lower case, without parameters
  add column media_types text[];

-- Nothing is kept of a deposit by its fingerprint alone.
alter table deposit alter column blob_tag drop not null;
-- A deposit without an upload is made together with its request, which is published last.
alter table deposit
  drop constraint deposit_company_id_request_id_fkey,
  add foreign key (company_id, request_id) references request (company_id, id)
    deferrable initially deferred;

-- Whose deposit it is, so that looking for one's own does not walk through those of others.
alter table lookup_tag add column user_id uuid;
update lookup_tag t set user_id = d.user_id
  from deposit d where d.company_id = t.company_id and d.id = t.record_ref;
alter table lookup_tag alter column user_id set not null;
create index lookup_tag_own on lookup_tag (company_id, user_id, tag);
