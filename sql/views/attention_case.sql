-- Attention rows by the case of their shapes: paged cache, whole sequences, or multi-head latent attention.
-- example: How many attention rows of each version are decode steps of latent attention, and of which lengths?
create or replace view attention_case as
with slots as (
    select row_id, file_id, version_id, line_number, input_shapes[1] as query, input_shapes[2] as key,
        len(input_shapes[15]) > 0 as has_block_table, coalesce(runtime_avg_seq_len, avg_seq_len) as avg_seq_len,
        runtime_attn_state, runtime_kv_cache_mode, latency_us
    from measurement where kernel_type = 'FusedInferAttentionScore'
)
select v.version_key, f.file_name, s.row_id, s.line_number,
    case when len(s.query) = 4 then 'latent' when len(s.query) = 3 and s.has_block_table then 'paged'
         when len(s.query) = 3 then 'non_paged' else 'other' end as attention_case,
    if(len(s.query) in (3, 4), s.query[1], null) as query_tokens,
    if(len(s.query) in (3, 4), s.query[2], null) as heads, s.query[-1] as head_dim,
    if(s.has_block_table or len(s.query) = 4, s.key[1], null) as cache_blocks,
    if(s.avg_seq_len >= 0, s.avg_seq_len, null) as avg_seq_len, s.runtime_attn_state as attn_state,
    s.runtime_kv_cache_mode as kv_cache_mode, s.latency_us
from slots as s join source_file as f using (file_id) join profile_version as v on v.version_id = s.version_id
order by s.row_id;
comment on view attention_case is 'One row per measurement of FusedInferAttentionScore, by the ranks and slots of its shapes [source: measurement]';
comment on column attention_case.version_key is 'Version [profile_version.version_key]';
comment on column attention_case.file_name is 'CSV of the row [source_file.file_name]';
comment on column attention_case.row_id is 'Measurement [measurement.row_id]';
comment on column attention_case.line_number is 'Physical line where the row starts [count]';
comment on column attention_case.attention_case is 'paged (3-D query and a block table), non_paged (3-D query without one), latent (4-D query of MLA), other [identifier from measurement.input_shapes]';
comment on column attention_case.query_tokens is 'First dim of the query: tokens, or requests with one token each in the latent case [count]';
comment on column attention_case.heads is 'Second dim of the query [count]';
comment on column attention_case.head_dim is 'Last dim of the query [elements]';
comment on column attention_case.cache_blocks is 'First dim of the key where that is the block pool and no sequence, else null [count]';
comment on column attention_case.avg_seq_len is 'Mean sequence length, null when unknown [tokens; CSV column Runtime avg_seq_len, else avg_seq_len]';
comment on column attention_case.attn_state is 'CSV column Runtime attn_state [text]';
comment on column attention_case.kv_cache_mode is 'CSV column Runtime kv_cache_mode [text]';
comment on column attention_case.latency_us is 'Latency that lookups use [us, measurement.latency_us]';
