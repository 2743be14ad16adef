"""The stages of the pipeline, one module per command: collect, clone, mark, reward, reinforce, evaluate.

collect --> store --> clone --> collect (with the clone) --> mark --> reward --> reinforce --> evaluate
"""
