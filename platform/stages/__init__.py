"""The stages of the pipeline, one module for each verb: collect, clone, mark, reward, reinforce, evaluate.

collect --> store --> clone --> collect (the clone plays) --> mark --> reward --> reinforce --> evaluate
"""
