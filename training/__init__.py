"""Making models: packing (training.pack), distillation and evaluation. Nothing here is shipped."""
