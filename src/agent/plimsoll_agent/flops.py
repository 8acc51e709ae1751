"""Floating point operations of products, convolutions and attention, from the shapes of arguments.

A formula takes the Call of an operation (see traced.py) and returns operations: a multiplication and
the addition after it are two, as torch.utils.flop_counter of PyTorch counts them. Unlike there,
causal attention counts the half of the scores that kernels compute.
"""

import math

# Products in the backward pass of fused attention for two in the forward pass: scores again, and
# the gradients of values, probabilities, queries and keys (Dao et al., 2022, algorithm 4).
ATTENTION_BACKWARD = 2.5


def _product(first, second):
    """(…, m, k) by (…, k, n), or a vector in a matrix's place."""
    columns = second[-1] if len(second) > 1 else 1
    return 2 * math.prod(first) * columns


def _of_arguments(first, second):
    return lambda call: _product(call.shape(first), call.shape(second))


def _convolution(call):
    """Each element of the output, or where it is transposed of the input, takes a kernel."""
    return _kernels(call, call.outputs[0].shape if call.outputs else [])


def _transposed(call):
    return _kernels(call, call.shape(0))


def _kernels(call, shape):
    return 2 * math.prod(shape) * math.prod(call.shape(1)[1:]) if shape else 0


def _convolution_backward(call):
    """As many as forward for each of the gradients of input and weight."""
    wanted = call.argument("output_mask") or [True, True, True]
    taken = call.shape(1) if call.argument("transposed") else call.shape(0)
    return sum(map(bool, wanted[:2])) * 2 * math.prod(taken) * math.prod(call.shape(2)[1:])


def _attention(queries, keys, values, is_causal):
    """Of (batch, heads, length, width)."""
    batch, heads, length, width = queries
    scores = batch * heads * length * keys[2]
    total = 2 * scores * (width + values[3])
    return total // 2 if is_causal else total


def _turned(shape):
    """(batch, length, heads, width) as (batch, heads, length, width)."""
    return [shape[0], shape[2], shape[1], shape[3]]


def _of_attention(first, is_turned=False, factor=1):
    """
    first      the place of the queries among the arguments; keys and values come after them
    is_turned  lengths come before heads
    """

    def formula(call):
        shapes = [call.shape(first + place) for place in range(3)]
        if any(len(shape) != 4 for shape in shapes):
            return 0
        if is_turned:
            shapes = [_turned(shape) for shape in shapes]
        is_causal = call.argument("is_causal") or call.argument("causal")
        return int(factor * _attention(*shapes, is_causal))

    return formula


FORMULAS = {
    "aten::mm": _of_arguments(0, 1),
    "aten::bmm": _of_arguments(0, 1),
    "aten::mv": _of_arguments(0, 1),
    "aten::dot": _of_arguments(0, 1),
    "aten::_int_mm": _of_arguments(0, 1),
    "aten::_scaled_mm": _of_arguments(0, 1),
    "aten::addmm": _of_arguments(1, 2),
    "aten::addmm_": _of_arguments(1, 2),
    "aten::addmv": _of_arguments(1, 2),
    "aten::baddbmm": _of_arguments(1, 2),
    "aten::baddbmm_": _of_arguments(1, 2),
    "aten::_addmm_activation": _of_arguments(1, 2),
    "aten::cudnn_convolution": _convolution,
    "aten::cudnn_convolution_relu": _convolution,
    "aten::_conv_depthwise2d": _convolution,
    "aten::conv_depthwise3d": _convolution,
    "aten::_slow_conv2d_forward": _convolution,
    "aten::slow_conv3d_forward": _convolution,
    "aten::slow_conv_dilated2d": _convolution,
    "aten::cudnn_convolution_transpose": _transposed,
    "aten::slow_conv_transpose2d": _transposed,
    "aten::convolution_backward": _convolution_backward,
    "aten::_scaled_dot_product_flash_attention": _of_attention(0),
    "aten::_scaled_dot_product_efficient_attention": _of_attention(0),
    "aten::_scaled_dot_product_cudnn_attention": _of_attention(0),
    "aten::_scaled_dot_product_flash_attention_backward":
        _of_attention(1, factor=ATTENTION_BACKWARD),
    "aten::_scaled_dot_product_efficient_attention_backward":
        _of_attention(1, factor=ATTENTION_BACKWARD),
    "aten::_scaled_dot_product_cudnn_attention_backward":
        _of_attention(1, factor=ATTENTION_BACKWARD),
    "flash_attn::_flash_attn_forward": _of_attention(0, is_turned=True),
    "flash_attn::_flash_attn_backward":
        _of_attention(1, is_turned=True, factor=ATTENTION_BACKWARD),
}

# Of those, the ones that compute in TF32 where convolutions may, as by default they do.
CONVOLUTIONS = frozenset(name for name in FORMULAS if "conv" in name)


def of(call):
    """Operations of a call; None: it has no formula."""
    formula = FORMULAS.get(call.name)
    if formula is None:
        return None
    try:
        return formula(call)
    except (IndexError, TypeError, ValueError):  # of shapes that this operation never had before
        return None
