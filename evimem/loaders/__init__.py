"""Read conversations from files. A loader takes a path and yields turns; for a bad item it names place and reason."""

from .chatgpt_export import read_chatgpt as read_chatgpt
from .conversation import Conversation as Conversation
from .conversation import RefusedItem as RefusedItem
from .conversation import raise_refused as raise_refused
from .formats import FORMATS as FORMATS
from .formats import detect as detect
from .formats import load as load
from .locomo_format import LocomoQuestion as LocomoQuestion
from .locomo_format import LocomoSample as LocomoSample
from .locomo_format import read_locomo as read_locomo
from .longmemeval_format import LongMemEvalCase as LongMemEvalCase
from .longmemeval_format import read_longmemeval as read_longmemeval
from .openai_messages import read_messages as read_messages
from .turn_lines import read_turns as read_turns
