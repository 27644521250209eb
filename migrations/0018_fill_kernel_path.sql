-- The kernels that have a path of their own.
insert into kernel_path values
    ('FusedInferAttentionScore', 'attention_special'),
    ('LightningIndexer', 'attention_lightning_indexer'),
    ('LightningIndexerVllm', 'attention_lightning_indexer'),
    ('SparseFlashAttention', 'attention_sparse_sharedkv'),
    ('DispatchFFNCombine', 'moe_fused'),
    ('DynamicQuant', 'compute_scale'),
    ('DynamicBlockQuant', 'compute_scale'),
    ('QuantBatchMatmulV3', 'quantized_matmul'),
    ('ScatterNdUpdate', 'scatter_nd_update_mla'),
    ('ScatterNdUpdateAiCore', 'scatter_nd_update_mla');
