-- Runtime metadata of attention kernels: FusedInferAttentionScore and its sparse relatives.
alter table measurement add column avg_seq_len double;
alter table measurement add column runtime_avg_seq_len double;
alter table measurement add column runtime_batch_size bigint;
alter table measurement add column runtime_num_heads bigint;
alter table measurement add column runtime_num_key_value_heads bigint;
alter table measurement add column runtime_sparse_mode bigint;
alter table measurement add column runtime_input_layout varchar;
alter table measurement add column runtime_block_size bigint;
alter table measurement add column runtime_quant_mode varchar;
alter table measurement add column runtime_phase varchar;
alter table measurement add column runtime_attn_state varchar;
alter table measurement add column runtime_kv_cache_mode varchar;
alter table measurement add column runtime_source_profile varchar;
alter table measurement add column runtime_metadata_completeness varchar;
alter table measurement add column runtime_actual_seq_lengths_shape varchar;
alter table measurement add column runtime_actual_seq_lengths_values varchar;
alter table measurement add column runtime_actual_seq_lengths_kv_shape varchar;
alter table measurement add column runtime_actual_seq_lengths_kv_values varchar;
alter table measurement add column runtime_block_table_shape varchar;
alter table measurement add column runtime_block_table_valid_blocks varchar;
alter table measurement add column runtime_operator_input_shapes_raw varchar;
comment on column measurement.avg_seq_len is 'CSV column avg_seq_len of old enriched files; -1 = unknown [tokens]';
comment on column measurement.runtime_avg_seq_len is 'CSV column Runtime avg_seq_len [tokens]';
comment on column measurement.runtime_batch_size is 'CSV column Runtime batch_size [requests]';
comment on column measurement.runtime_num_heads is 'CSV column Runtime num_heads [count]';
comment on column measurement.runtime_num_key_value_heads is 'CSV column Runtime num_key_value_heads [count]';
comment on column measurement.runtime_sparse_mode is 'CSV column Runtime sparse_mode: 0 none, 1 all, 2 left-up, 3 right-down causal, 4 band [code]';
comment on column measurement.runtime_input_layout is 'CSV column Runtime input_layout [text]';
comment on column measurement.runtime_block_size is 'CSV column Runtime block_size [tokens]';
comment on column measurement.runtime_quant_mode is 'CSV column Runtime quant_mode [text]';
comment on column measurement.runtime_phase is 'CSV column Runtime phase: prefill, decode or mixed [text]';
comment on column measurement.runtime_attn_state is 'CSV column Runtime attn_state [text]';
comment on column measurement.runtime_kv_cache_mode is 'CSV column Runtime kv_cache_mode [text]';
comment on column measurement.runtime_source_profile is 'CSV column Runtime source_profile [text]';
comment on column measurement.runtime_metadata_completeness is 'CSV column Runtime metadata_completeness [text]';
comment on column measurement.runtime_actual_seq_lengths_shape is 'CSV column Runtime actual_seq_lengths_shape [list of integers as text]';
comment on column measurement.runtime_actual_seq_lengths_values is 'CSV column Runtime actual_seq_lengths_values [list of tokens as text]';
comment on column measurement.runtime_actual_seq_lengths_kv_shape is 'CSV column Runtime actual_seq_lengths_kv_shape [list of integers as text]';
comment on column measurement.runtime_actual_seq_lengths_kv_values is 'CSV column Runtime actual_seq_lengths_kv_values [list of tokens as text]';
comment on column measurement.runtime_block_table_shape is 'CSV column Runtime block_table_shape [list of integers as text]';
comment on column measurement.runtime_block_table_valid_blocks is 'CSV column Runtime block_table_valid_blocks [list of blocks as text]';
comment on column measurement.runtime_operator_input_shapes_raw is 'CSV column Runtime operator_input_shapes_raw [text]';
insert into csv_column values
    ('avg_seq_len', 'measurement', 'avg_seq_len'),
    ('Runtime avg_seq_len', 'measurement', 'runtime_avg_seq_len'),
    ('Runtime batch_size', 'measurement', 'runtime_batch_size'),
    ('Runtime num_heads', 'measurement', 'runtime_num_heads'),
    ('Runtime num_key_value_heads', 'measurement', 'runtime_num_key_value_heads'),
    ('Runtime sparse_mode', 'measurement', 'runtime_sparse_mode'),
    ('Runtime input_layout', 'measurement', 'runtime_input_layout'),
    ('Runtime block_size', 'measurement', 'runtime_block_size'),
    ('Runtime quant_mode', 'measurement', 'runtime_quant_mode'),
    ('Runtime phase', 'measurement', 'runtime_phase'),
    ('Runtime attn_state', 'measurement', 'runtime_attn_state'),
    ('Runtime kv_cache_mode', 'measurement', 'runtime_kv_cache_mode'),
    ('Runtime source_profile', 'measurement', 'runtime_source_profile'),
    ('Runtime metadata_completeness', 'measurement', 'runtime_metadata_completeness'),
    ('Runtime actual_seq_lengths_shape', 'measurement', 'runtime_actual_seq_lengths_shape'),
    ('Runtime actual_seq_lengths_values', 'measurement', 'runtime_actual_seq_lengths_values'),
    ('Runtime actual_seq_lengths_kv_shape', 'measurement', 'runtime_actual_seq_lengths_kv_shape'),
    ('Runtime actual_seq_lengths_kv_values', 'measurement', 'runtime_actual_seq_lengths_kv_values'),
    ('Runtime block_table_shape', 'measurement', 'runtime_block_table_shape'),
    ('Runtime block_table_valid_blocks', 'measurement', 'runtime_block_table_valid_blocks'),
    ('Runtime operator_input_shapes_raw', 'measurement', 'runtime_operator_input_shapes_raw');
