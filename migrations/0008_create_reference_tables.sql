-- Facts that both CSV rows and targets are normalised with: dtype aliases and kernel families.
create table dtype_alias (alias varchar primary key, dtype varchar not null);
comment on table dtype_alias is 'Spellings of dtypes in CSVs and in torch, resolved to one name [source: CSV schema, torch dtype names]';
comment on column dtype_alias.alias is 'Spelling, upper case [text]';
comment on column dtype_alias.dtype is 'Name used in this database [text]';
insert into dtype_alias values
    ('DT_BF16', 'DT_BF16'), ('BF16', 'DT_BF16'), ('BFLOAT16', 'DT_BF16'), ('DT_BFLOAT16', 'DT_BF16'),
    ('FLOAT16', 'FLOAT16'), ('DT_FLOAT16', 'FLOAT16'), ('FP16', 'FLOAT16'), ('DT_FP16', 'FLOAT16'), ('HALF', 'FLOAT16'),
    ('FLOAT', 'FLOAT'), ('DT_FLOAT', 'FLOAT'), ('FLOAT32', 'FLOAT'), ('FP32', 'FLOAT'), ('DT_FLOAT32', 'FLOAT'),
    ('DOUBLE', 'DOUBLE'), ('DT_DOUBLE', 'DOUBLE'), ('FLOAT64', 'DOUBLE'),
    ('INT8', 'INT8'), ('DT_INT8', 'INT8'), ('UINT8', 'UINT8'), ('DT_UINT8', 'UINT8'),
    ('INT16', 'INT16'), ('DT_INT16', 'INT16'), ('INT32', 'INT32'), ('DT_INT32', 'INT32'), ('INT', 'INT32'),
    ('INT64', 'INT64'), ('DT_INT64', 'INT64'), ('LONG', 'INT64'), ('UINT32', 'UINT32'), ('DT_UINT32', 'UINT32'),
    ('UINT64', 'UINT64'), ('DT_UINT64', 'UINT64'), ('UINT16', 'UINT16'), ('DT_UINT16', 'UINT16'),
    ('BOOL', 'BOOL'), ('DT_BOOL', 'BOOL'), ('INT4', 'INT4'), ('DT_INT4', 'INT4'),
    ('COMPLEX64', 'COMPLEX64'), ('COMPLEX128', 'COMPLEX128'),
    ('FLOAT8_E4M3FN', 'FLOAT8_E4M3FN'), ('DT_FLOAT8_E4M3FN', 'FLOAT8_E4M3FN'),
    ('FLOAT8_E5M2', 'FLOAT8_E5M2'), ('DT_FLOAT8_E5M2', 'FLOAT8_E5M2'),
    ('FLOAT8_E8M0FNU', 'FLOAT8_E8M0'), ('DT_FLOAT8_E8M0', 'FLOAT8_E8M0'), ('FLOAT8_E8M0', 'FLOAT8_E8M0'),
    ('FLOAT4_E2M1FN_X2', 'FLOAT4_E2M1'), ('DT_FLOAT4_E2M1', 'FLOAT4_E2M1'), ('FLOAT4_E2M1', 'FLOAT4_E2M1'),
    ('DT_UNDEFINED', 'DT_UNDEFINED'), ('UNDEFINED', 'DT_UNDEFINED');

create table kernel_trait (
    kernel_type varchar primary key,
    is_matmul boolean not null,
    is_transposable boolean not null,
    is_batched boolean not null,
    is_flattened boolean not null,
    is_merged boolean not null,
    is_relaxed_dtype boolean not null,
    rearrangement varchar
);
comment on table kernel_trait is 'Families of kernels whose shapes follow special rules [source: profiling RFC phase 1, section 5.5]';
comment on column kernel_trait.kernel_type is 'Kernel [text]';
comment on column kernel_trait.is_matmul is 'Has M, K, N axes [boolean]';
comment on column kernel_trait.is_transposable is 'Operands after the first may be stored transposed [boolean]';
comment on column kernel_trait.is_batched is 'Leading dims are batch dims of the regime [boolean]';
comment on column kernel_trait.is_flattened is 'A rank-3 target matches (a*b, c) rows [boolean]';
comment on column kernel_trait.is_merged is 'A rank-3 target matches (a, b*c) rows [boolean]';
comment on column kernel_trait.is_relaxed_dtype is 'DT_BF16 and FLOAT rows serve each other in exact lookups [boolean]';
comment on column kernel_trait.rearrangement is 'Special argument layout: rope, swiglu, reshape_and_cache, index; null for none [text]';
insert into kernel_trait values
    ('MatMulV2', true, true, false, false, false, true, null),
    ('MatMulV3', true, true, false, false, false, false, null),
    ('MatMulCommon', true, true, false, false, false, false, null),
    ('MatMul', true, true, false, false, false, false, null),
    ('QuantBatchMatmulV3', true, true, true, false, false, false, null),
    ('BatchMatMulV2', true, true, true, false, false, false, null),
    ('BatchMatMulNd', true, false, true, false, false, false, null),
    ('TransposeBatchMatMul', true, true, true, false, false, false, null),
    ('GroupedMatmul', true, true, false, false, false, false, null),
    ('GroupedMatmulSwigluQuant', true, true, false, false, false, false, null),
    ('AscendQuantV2', false, false, false, true, true, false, null),
    ('DynamicQuant', false, false, false, true, true, false, null),
    ('RmsNorm', false, false, false, true, false, false, null),
    ('AddRmsNormBias', false, false, false, true, false, false, null),
    ('AddRmsNorm', false, false, false, true, false, false, null),
    ('DispatchFFNCombine', false, false, false, true, false, false, null),
    ('PadV3', false, false, false, false, false, true, null),
    ('PadV3AiCore', false, false, false, false, false, true, null),
    ('MoeGatingTopK', false, false, false, false, false, true, null),
    ('ApplyRotaryPosEmb', false, false, false, false, false, true, 'rope'),
    ('_triton_rope', false, false, false, false, false, true, 'rope'),
    ('split_qkv_rmsnorm_rope_kernel', false, false, false, false, false, true, 'rope'),
    ('SwiGlu', false, false, false, false, false, false, 'swiglu'),
    ('ReshapeAndCacheNdKernel', false, false, false, false, false, false, 'reshape_and_cache'),
    ('reshape_and_cache_200000000', false, false, false, false, false, false, 'reshape_and_cache'),
    ('Index', false, false, false, false, false, false, 'index');
