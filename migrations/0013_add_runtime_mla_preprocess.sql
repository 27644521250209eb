-- Runtime metadata of mla_preprocess_0_mix_aic.
alter table measurement add column runtime_num_tokens bigint;
alter table measurement add column runtime_hidden_size bigint;
alter table measurement add column runtime_local_num_heads bigint;
alter table measurement add column runtime_q_lora_rank bigint;
alter table measurement add column runtime_kv_lora_rank bigint;
alter table measurement add column runtime_qk_nope_head_dim bigint;
alter table measurement add column runtime_qk_rope_head_dim bigint;
alter table measurement add column runtime_cache_mode varchar;
alter table measurement add column runtime_weight_format varchar;
alter table measurement add column runtime_enable_inner_out varchar;
alter table measurement add column runtime_weight_quantized varchar;
comment on column measurement.runtime_num_tokens is 'CSV column Runtime num_tokens [tokens]';
comment on column measurement.runtime_hidden_size is 'CSV column Runtime hidden_size [elements]';
comment on column measurement.runtime_local_num_heads is 'CSV column Runtime local_num_heads [count]';
comment on column measurement.runtime_q_lora_rank is 'CSV column Runtime q_lora_rank [elements]';
comment on column measurement.runtime_kv_lora_rank is 'CSV column Runtime kv_lora_rank [elements]';
comment on column measurement.runtime_qk_nope_head_dim is 'CSV column Runtime qk_nope_head_dim [elements]';
comment on column measurement.runtime_qk_rope_head_dim is 'CSV column Runtime qk_rope_head_dim [elements]';
comment on column measurement.runtime_cache_mode is 'CSV column Runtime cache_mode [text]';
comment on column measurement.runtime_weight_format is 'CSV column Runtime weight_format [text]';
comment on column measurement.runtime_enable_inner_out is 'CSV column Runtime enable_inner_out [text]';
comment on column measurement.runtime_weight_quantized is 'CSV column Runtime weight_quantized [text]';
insert into csv_column values
    ('Runtime num_tokens', 'measurement', 'runtime_num_tokens'),
    ('Runtime hidden_size', 'measurement', 'runtime_hidden_size'),
    ('Runtime local_num_heads', 'measurement', 'runtime_local_num_heads'),
    ('Runtime q_lora_rank', 'measurement', 'runtime_q_lora_rank'),
    ('Runtime kv_lora_rank', 'measurement', 'runtime_kv_lora_rank'),
    ('Runtime qk_nope_head_dim', 'measurement', 'runtime_qk_nope_head_dim'),
    ('Runtime qk_rope_head_dim', 'measurement', 'runtime_qk_rope_head_dim'),
    ('Runtime cache_mode', 'measurement', 'runtime_cache_mode'),
    ('Runtime weight_format', 'measurement', 'runtime_weight_format'),
    ('Runtime enable_inner_out', 'measurement', 'runtime_enable_inner_out'),
    ('Runtime weight_quantized', 'measurement', 'runtime_weight_quantized');
