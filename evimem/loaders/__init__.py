"""Read conversations from files. A loader takes a path and yields turns; for a bad item it names place and reason."""

from .chatgpt_export import read_chatgpt as read_chatgpt
from .claude_export import read_claude as read_claude
from .conversation import Conversation as Conversation
from .conversation import ImportedTurn as ImportedTurn
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
from .messengers import read_discord as read_discord
from .messengers import read_slack as read_slack
from .messengers import read_telegram as read_telegram
from .openai_messages import read_messages as read_messages
from .turn_lines import read_turns as read_turns
from .whatsapp import read_whatsapp as read_whatsapp
