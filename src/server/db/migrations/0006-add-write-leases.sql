-- Which process may write an upload's bytes. A process that takes over from one that went silent gets
-- the next generation and with it another file, so the old one's open file is no longer the upload's.
alter table upload
  add column generation integer not null default 0,
  add column writer uuid,
  add column writer_until timestamptz;
