"""Coreference: which mentions of a document name the same entity, and how sure that is.

`gnomon.models.coref.posterior` holds what a model believes of a document, whoever made the model.
"""
