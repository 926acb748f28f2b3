"""The name that a user told in passing is found by a question that shares no word with the introduction."""

from pathlib import Path

import pytest

import evimem

OTHERS = {
    "en": ["My husband Bram is a pilot.", "What is the capital of Peru?", "I missed the train."],
    "de": ["Meine Schwester heißt Anke.", "Wie heißt die Hauptstadt von Peru?", "Ich habe den Zug verpasst."],
    "es": ["Mi hermana se llama Ana.", "¿Cómo se llama la capital de Perú?", "Perdí el tren."],
    "fr": ["Ma sœur s'appelle Anne.", "Comment s'appelle la capitale du Pérou ?", "J'ai raté le train."],
    "it": ["Mia sorella si chiama Anna.", "Come si chiama la capitale del Perù?", "Ho perso il treno."],
    "pt": ["A minha irmã chama-se Ana.", "Qual é a capital do Peru?", "Perdi o comboio."],
    "nl": ["Mijn zus heet Anne.", "Hoe heet de hoofdstad van Peru?", "Ik heb de trein gemist."],
    "ru": ["Мою сестру зовут Анна.", "Как называется столица Перу?", "Я опоздал на поезд."],
    "zh": ["我姐姐叫安娜。", "秘鲁的首都叫什么\uff1f", "我错过了火车。"],
    "ja": ["姉はアンナといいます。", "ペルーの首都はどこですか\uff1f", "電車に乗り遅れた。"],
    "hi": ["मेरी बहन का नाम अन्ना है।", "पेरू की राजधानी क्या है?", "मेरी ट्रेन छूट गई।"],
    "ar": ["أختي اسمها آنا.", "ما عاصمة بيرو؟", "فاتني القطار."],
}  # fmt: skip


@pytest.mark.parametrize(
    ("language", "told", "question"),
    [
        ("en", "Hi, I'm Ilse.", "What is my name?"),
        ("en", "Hello! Ilse here.", "what's my name"),
        ("en", "hey im ilse", "Do you remember my name?"),
        ("en", "Call me Ilse.", "Who am I?"),
        ("en", "Good morning, this is Eric.", "Tell me my first name"),
        ("de", "Hallo, ich bin Uwe, ich bin neu hier.", "Wie heiße ich?"),
        ("es", "Hola, soy Marta y tengo dos hijos.", "¿Cómo me llamo?"),
        ("fr", "Bonjour, moi c'est Luc, je suis plombier.", "Comment je m'appelle ?"),
        ("it", "Ciao, sono Piero, piacere.", "Come mi chiamo?"),
        ("pt", "Olá, sou o Rui, prazer.", "Qual é o meu nome?"),
        ("nl", "Hoi, ik ben Joost, leuk je te ontmoeten.", "Hoe heet ik?"),
        ("ru", "Привет, я Олег, рад знакомству.", "Как меня зовут?"),
        ("zh", "你好\uff0c我是小王\uff0c请多关照。", "我叫什么名字\uff1f"),
        ("ja", "こんにちは、田中です。", "私の名前は何ですか\uff1f"),
        ("hi", "नमस्ते, मैं रवि हूँ।", "मेरा नाम क्या है?"),
        ("ar", "مرحبا، أنا سامي من عمان.", "ما اسمي؟"),
    ],
)
def test_the_asker_s_own_name_is_among_the_first_lines(tmp_path: Path, language: str, told: str, question: str) -> None:
    first, *others = OTHERS[language]
    with evimem.open(tmp_path / "m.evimem") as memory:
        for day, text in enumerate((first, told, *others), 1):
            memory.add("user", text, time=f"2024-03-{day:02}T10:00", role="user")
            memory.add("assistant", "OK.", time=f"2024-03-{day:02}T10:01", role="assistant")
        assert told in [hit.turn.text for hit in memory.search(question, k=2)]
        assert told.rstrip(".。!") in memory.block(question, tokens=300).text
