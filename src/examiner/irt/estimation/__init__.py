"""From responses to estimates: the EM driver, the sources it asks, kernels and quadratures."""
