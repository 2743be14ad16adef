"""The pipeline, one function a stage: collect, clone, mark, reward, reinforce, evaluate, and demo for all of them.

collect --> store --> clone --> collect (the clone plays) --> mark --> reward --> reinforce --> evaluate
"""
