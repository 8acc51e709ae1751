"""The tensors of the reference models, counted by hand: no PyTorch here.

A model is a list of shapes, its parameters in the order in which they are made. Whoever changes a
model in models/ changes its list here, from the drawing and not from the program.
"""

from math import prod


def linear(inputs, outputs, bias=True):
    return [(outputs, inputs)] + ([(outputs,)] if bias else [])


def norm(width):
    """Layer, group or batch normalisation: a factor and an offset per channel."""
    return [(width,), (width,)]


def conv(inputs, outputs, size, bias=True):
    return [(outputs, inputs, size, size)] + ([(outputs,)] if bias else [])


def elements(shapes):
    return sum(prod(shape) for shape in shapes)


def gpt_linears(shape):
    """(inputs, outputs) of the four linear layers of a block."""
    width = shape["width"]
    return [(width, 3 * width), (width, width), (width, 4 * width), (4 * width, width)]


def gpt(shape):
    width = shape["width"]
    qkv, project, expand, contract = (linear(*pair) for pair in gpt_linears(shape))
    block = norm(width) + qkv + project + norm(width) + expand + contract
    return ([(shape["vocabulary"], width), (shape["context"], width)]
            + shape["layers"] * block + norm(width))


def llama_linears(shape):
    width, hidden = shape["width"], shape["hidden"]
    narrow = shape["groups"] * (width // shape["heads"])
    return [(width, width), (width, narrow), (width, narrow), (width, width),
            (width, hidden), (width, hidden), (hidden, width)]


def llama(shape):
    width = shape["width"]
    block = 2 * [(width,)]
    for pair in llama_linears(shape):
        block = block + linear(*pair, bias=False)
    return ([(shape["vocabulary"], width)] + shape["layers"] * block + [(width,)]
            + linear(width, shape["vocabulary"], bias=False))


def adapters(linears, layers, rank):
    """Two narrow matrices for each linear layer of each block."""
    return layers * [piece for inputs, outputs in linears
                     for piece in ((rank, inputs), (outputs, rank))]


def resnet(depth):
    """(parameters, channels of each batch normalisation)"""
    layers = {18: (2, 2, 2, 2), 50: (3, 4, 6, 3)}[depth]
    shapes, channels = [], []

    def convolve(inputs, outputs, size):
        shapes.extend(conv(inputs, outputs, size, bias=False) + norm(outputs))
        channels.append(outputs)

    convolve(3, 64, 7)
    inputs = 64
    for stage, count in enumerate(layers):
        width = 64 << stage
        for index in range(count):
            if depth == 18:
                outputs = width
                convolve(inputs, width, 3)
                convolve(width, width, 3)
            else:
                outputs = 4 * width
                convolve(inputs, width, 1)
                convolve(width, width, 3)
                convolve(width, outputs, 1)
            if inputs != outputs or (stage and index == 0):
                convolve(inputs, outputs, 1)
            inputs = outputs
    return shapes + linear(inputs, 1000), channels


VIT = {"tiny": (192, 4), "B": (768, 12), "L": (1024, 24)}


def vit(size):
    width, layers = VIT[size]
    block = (norm(width) + linear(width, 3 * width) + linear(width, width) + norm(width)
             + linear(width, 4 * width) + linear(4 * width, width))
    return ([(1, 1, width), (1, 14 * 14 + 1, width)] + conv(3, width, 16)
            + layers * block + norm(width) + linear(width, 1000))


def unet(channels, factors=(1, 2, 2, 4), attend_from=2):
    time = 4 * channels
    widths = [channels * factor for factor in factors]

    def level(inputs, outputs, attend):
        shapes = norm(inputs) + conv(inputs, outputs, 3) + linear(time, outputs)
        shapes += norm(outputs) + conv(outputs, outputs, 3)
        if inputs != outputs:
            shapes += conv(inputs, outputs, 1)
        if attend:
            shapes += norm(outputs) + conv(outputs, 3 * outputs, 1) + conv(outputs, outputs, 1)
        return shapes

    shapes = linear(channels, time) + linear(time, time) + conv(3, channels, 3)
    inputs = channels
    for index, width in enumerate(widths):
        shapes += level(inputs, width, index >= attend_from)
        if index < len(widths) - 1:
            shapes += conv(width, width, 3)
        inputs = width
    shapes += level(inputs, inputs, True)
    for index, width in reversed(list(enumerate(widths))):
        shapes += level(inputs + width, width, index >= attend_from)
        inputs = width
    return shapes + norm(inputs) + conv(inputs, 3, 3)


def perceptron():
    """The model of the programs in bugs/."""
    return 3 * linear(1024, 1024) + linear(1024, 4096)
