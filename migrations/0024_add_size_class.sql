-- What all keys of a target have in common, so that a lookup reads one block of a large table.
alter table exact_key add column size_class bigint;
comment on table exact_key is 'Groups of equal measurements under every key that an exact lookup can find them by, sorted by file and size class [source: sql/ingest/row_keys.sql]';
comment on column exact_key.size_class is 'Hash of the operand sizes in blocks of 64: a target has that of every row that it may equal or pad to [source: sql/macros/size_class.sql]';
