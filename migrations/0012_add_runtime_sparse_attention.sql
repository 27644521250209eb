-- Runtime metadata of SparseFlashAttention and LightningIndexer.
alter table measurement add column runtime_case_id varchar;
alter table measurement add column runtime_topk bigint;
alter table measurement add column runtime_cache_layout varchar;
alter table measurement add column runtime_sparse_block_size bigint;
alter table measurement add column runtime_sparse_indices_pattern varchar;
alter table measurement add column runtime_sparse_indices_valid_count bigint;
comment on column measurement.runtime_case_id is 'CSV column Runtime case_id [text]';
comment on column measurement.runtime_topk is 'CSV column Runtime topk [tokens]';
comment on column measurement.runtime_cache_layout is 'CSV column Runtime cache_layout [text]';
comment on column measurement.runtime_sparse_block_size is 'CSV column Runtime sparse_block_size [tokens]';
comment on column measurement.runtime_sparse_indices_pattern is 'CSV column Runtime sparse_indices_pattern [text]';
comment on column measurement.runtime_sparse_indices_valid_count is 'CSV column Runtime sparse_indices_valid_count [tokens]';
insert into csv_column values
    ('Runtime case_id', 'measurement', 'runtime_case_id'),
    ('Runtime topk', 'measurement', 'runtime_topk'),
    ('Runtime cache_layout', 'measurement', 'runtime_cache_layout'),
    ('Runtime sparse_block_size', 'measurement', 'runtime_sparse_block_size'),
    ('Runtime sparse_indices_pattern', 'measurement', 'runtime_sparse_indices_pattern'),
    ('Runtime sparse_indices_valid_count', 'measurement', 'runtime_sparse_indices_valid_count');
