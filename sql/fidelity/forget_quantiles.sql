-- Takes the error quantiles of kernels away.
-- param: kernels varchar[] [kernels, empty for all]
delete from error_quantile where len($kernels) = 0 or list_contains($kernels, kernel_type)
