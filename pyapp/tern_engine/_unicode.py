"""What tokenizers 0.23.3 does to each character.

Written by tools/generate_unicode.py: do not edit.

Characters in no table stay as they are. Hangul syllables decompose by arithmetic and are in none.
Range tables read "first-last" or "only", inclusive, in hexadecimal. _normalize.py applies them.
"""

# Between words.
SPACES = (
    "\t\n\r \xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)

# Leave nothing behind.
DROPPED = (
    "0-8 b-c e-1f 7f-9f ad 300-34e 350-36f 483-487 591-5bd 5bf 5c1-5c2 5c4-5c5 5c7 600-605 "
    "610-61a 61c 64b-65f 670 6d6-6dd 6df-6e4 6e7-6e8 6ea-6ed 70f 711 730-74a 7eb-7f3 816-819 "
    "81b-823 825-827 829-82d 859-85b 8e3-8ff 93c 94d 951-954 9bc 9cd a3c a4d abc acd b3c b4d "
    "bcd c4d c55-c56 cbc ccd d4d dca e38-e3a e48-e4b eb8-eb9 ec8-ecb f18-f19 f35 f37 f39 "
    "f71-f75 f7a-f7d f80-f84 f86-f87 fc6 1037 1039-103a 108d 135d-135f 1714 1734 17d2 17dd 180e "
    "18a9 1939-193b 1a17-1a18 1a60 1a75-1a7c 1a7f 1ab0-1abd 1b34 1b6b-1b73 1bab 1be6 1c37 "
    "1cd0-1cd2 1cd4-1ce0 1ce2-1ce8 1ced 1cf4 1cf8-1cf9 1dc0-1df5 1dfc-1dff 200b-200f 202a-202e "
    "2060-2064 2066-206f 20d0-20dc 20e1 20e5-20f0 2cef-2cf1 2d7f 2de0-2dff 302a-302d 3099-309a "
    "a66f a674-a67d a69e-a69f a6f0-a6f1 a806 a8c4 a8e0-a8f1 a92b-a92d a9b3 aab0 aab2-aab4 "
    "aab7-aab8 aabe-aabf aac1 aaf6 abed d800-f8ff fb1e fe20-fe2f feff fff9-fffb fffd 101fd "
    "102e0 10376-1037a 10a0d 10a0f 10a38-10a3a 10a3f 10ae5-10ae6 11046 1107f 110b9-110ba 110bd "
    "11100-11102 11133-11134 11173 111ca 11236 112e9-112ea 1133c 11366-1136c 11370-11374 "
    "114c2-114c3 115bf-115c0 1163f 116b7 1172b 16af0-16af4 16b30-16b36 1bc9e 1bca0-1bca3 "
    "1d167-1d169 1d173-1d182 1d185-1d18b 1d1aa-1d1ad 1d242-1d244 1e8d0-1e8d6 e0001 e0020-e007f "
    "f0000-ffffd 100000-10fffd"
)

# Leave nothing behind, but marks on their two sides keep their order.
BARRIERS = (
    "34f 7a6-7b0 900-902 93a 941-948 955-957 962-963 981 9c1-9c4 9e2-9e3 a01-a02 a41-a42 "
    "a47-a48 a4b-a4c a51 a70-a71 a75 a81-a82 ac1-ac5 ac7-ac8 ae2-ae3 b01 b3f b41-b44 b56 "
    "b62-b63 b82 bc0 c00 c3e-c40 c46-c48 c4a-c4c c62-c63 c81 cbf cc6 ccc ce2-ce3 d01 d41-d44 "
    "d62-d63 dd2-dd4 dd6 e31 e34-e37 e47 e4c-e4e eb1 eb4-eb7 ebb-ebc ecc-ecd f76-f79 f7e "
    "f8d-f92 f94-f97 f99-f9c f9e-fa1 fa3-fa6 fa8-fab fad-fb8 fba-fbc 102d-1030 1032-1036 "
    "103d-103e 1058-1059 105e-1060 1071-1074 1082 1085-1086 109d 1712-1713 1732-1733 1752-1753 "
    "1772-1773 17b4-17b5 17b7-17bd 17c6 17c9-17d1 17d3 180b-180d 1920-1922 1927-1928 1932 1a1b "
    "1a56 1a58-1a5e 1a62 1a65-1a6c 1a73-1a74 1b00-1b03 1b36-1b3a 1b3c 1b42 1b80-1b81 1ba2-1ba5 "
    "1ba8-1ba9 1bac-1bad 1be8-1be9 1bed 1bef-1bf1 1c2c-1c33 1c36 a802 a80b a825-a826 a926-a92a "
    "a947-a951 a980-a982 a9b6-a9b9 a9bc a9e5 aa29-aa2e aa31-aa32 aa35-aa36 aa43 aa4c aa7c "
    "aaec-aaed abe5 abe8 fe00-fe0f 10a01-10a03 10a05-10a06 10a0c 10a0e 11001 11038-11045 "
    "11080-11081 110b3-110b6 11127-1112b 1112d 11130-11132 11180-11181 111b6-111be 111cb-111cc "
    "1122f-11231 11234 11237 112df 112e3-112e8 11300-11301 11340 114b3-114b8 114ba 114bf-114c0 "
    "115b2-115b5 115bc-115bd 115dc-115dd 11633-1163a 1163d 11640 116ab 116ad 116b0-116b5 "
    "1171d-1171f 11722-11725 11727-1172a 16f8f-16f92 1bc9d 1da00-1da36 1da3b-1da6c 1da75 1da84 "
    "1da9b-1da9f 1daa1-1daaf e0100-e01ef"
)

# Words of their own, whatever stands beside them.
SEPARATE = (
    "21-2f 3a-40 5b-60 7b-7e a1 a7 ab b6-b7 bb bf 37e 387 55a-55f 589-58a 5be 5c0 5c3 5c6 "
    "5f3-5f4 609-60a 60c-60d 61b 61e-61f 66a-66d 6d4 700-70d 7f7-7f9 830-83e 85e 964-965 970 "
    "af0 df4 e4f e5a-e5b f04-f12 f14 f3a-f3d f85 fd0-fd4 fd9-fda 104a-104f 10fb 1360-1368 1400 "
    "166d-166e 169b-169c 16eb-16ed 1735-1736 17d4-17d6 17d8-17da 1800-180a 1944-1945 1a1e-1a1f "
    "1aa0-1aa6 1aa8-1aad 1b5a-1b60 1bfc-1bff 1c3b-1c3f 1c7e-1c7f 1cc0-1cc7 1cd3 1fef 2010-2027 "
    "2030-2043 2045-2051 2053-205e 207d-207e 208d-208e 2260 226e-226f 2308-230b 2329-232a "
    "2768-2775 27c5-27c6 27e6-27ef 2983-2998 29d8-29db 29fc-29fd 2cf9-2cfc 2cfe-2cff 2d70 "
    "2e00-2e2e 2e30-2e42 3001-3003 3008-3011 3014-301f 3030 303d 30a0 30fb 3400-4dbf 4e00-9fff "
    "a4fe-a4ff a60d-a60f a673 a67e a6f2-a6f7 a874-a877 a8ce-a8cf a8f8-a8fa a8fc a92e-a92f a95f "
    "a9c1-a9cd a9de-a9df aa5c-aa5f aade-aadf aaf0-aaf1 abeb f900-faff fd3e-fd3f fe10-fe19 "
    "fe30-fe52 fe54-fe61 fe63 fe68 fe6a-fe6b ff01-ff03 ff05-ff0a ff0c-ff0f ff1a-ff1b ff1f-ff20 "
    "ff3b-ff3d ff3f ff5b ff5d ff5f-ff65 10100-10102 1039f 103d0 1056f 10857 1091f 1093f "
    "10a50-10a58 10a7f 10af0-10af6 10b39-10b3f 10b99-10b9c 11047-1104d 110bb-110bc 110be-110c1 "
    "11140-11143 11174-11175 111c5-111c9 111cd 111db 111dd-111df 11238-1123d 112a9 114c6 "
    "115c1-115d7 11641-11643 1173c-1173e 12470-12474 16a6e-16a6f 16af5 16b37-16b3b 16b44 1bc9f "
    "1da87-1da8b 20000-2a6df 2a700-2b81f 2b920-2ceaf 2f800-2fa1f"
)

# First code point, then the characters that replace it and its followers.
REPLACED: tuple[tuple[int, str], ...] = (
    (0x41, "abcdefghijklmnopqrstuvwxyz"),
    (
        0xC0,
        "aaaaaa\xe6ceeeeiiii\xf0nooooo\xd7\xf8uuuuy\xfe\xdfaaaaaa\xe6ceeeeiiii\xf0nooooo\xf7"
        "\xf8uuuuy\xfeyaaaaaaccccccccdd\u0111\u0111eeeeeeeeeegggggggghh\u0127\u0127iiiiiiiii"
        "\u0131\u0133\u0133jjkk\u0138llllll\u0140\u0140\u0142\u0142nnnnnn\u0149\u014b\u014boooo"
        "oo\u0153\u0153rrrrrrsssssssstttt\u0167\u0167uuuuuuuuuuuuwwyyyzzzzzz\u017f\u0180\u0253"
        "\u0183\u0183\u0185\u0185\u0254\u0188\u0188\u0256\u0257\u018c\u018c\u018d\u01dd\u0259"
        "\u025b\u0192\u0192\u0260\u0263\u0195\u0269\u0268\u0199\u0199\u019a\u019b\u026f\u0272"
        "\u019e\u0275oo\u01a3\u01a3\u01a5\u01a5\u0280\u01a8\u01a8\u0283\u01aa\u01ab\u01ad\u01ad"
        "\u0288uu\u028a\u028b\u01b4\u01b4\u01b6\u01b6\u0292\u01b9\u01b9\u01ba\u01bb\u01bd",
    ),
    (
        0x1C4,
        "\u01c6\u01c6\u01c6\u01c9\u01c9\u01c9\u01cc\u01cc\u01ccaaiioouuuuuuuuuu\u01ddaaaa\xe6"
        "\xe6\u01e5\u01e5ggkkoooo\u0292\u0292j\u01f3\u01f3\u01f3gg\u0195\u01bfnnaa\xe6\xe6\xf8"
        "\xf8aaaaeeeeiiiioooorrrruuuusstt\u021d\u021dhh\u019e\u0221\u0223\u0223\u0225\u0225aaee"
        "ooooooooyy",
    ),
    (
        0x23A,
        "\u2c65\u023c\u023c\u019a\u2c66\u023f\u0240\u0242\u0242\u0180\u0289\u028c\u0247\u0247"
        "\u0249\u0249\u024b\u024b\u024d\u024d\u024f",
    ),
    (0x370, "\u0371\u0371\u0373\u0373\u02b9\u0375\u0377"),
    (0x37E, ";\u03f3"),
    (
        0x385,
        "\xa8\u03b1\xb7\u03b5\u03b7\u03b9\u038b\u03bf\u038d\u03c5\u03c9\u03b9\u03b1\u03b2\u03b3"
        "\u03b4\u03b5\u03b6\u03b7\u03b8\u03b9\u03ba\u03bb\u03bc\u03bd\u03be\u03bf\u03c0\u03c1"
        "\u03a2\u03c3\u03c4\u03c5\u03c6\u03c7\u03c8\u03c9\u03b9\u03c5\u03b1\u03b5\u03b7\u03b9"
        "\u03c5",
    ),
    (
        0x3CA,
        "\u03b9\u03c5\u03bf\u03c5\u03c9\u03d7\u03d0\u03d1\u03d2\u03d2\u03d2\u03d5\u03d6\u03d7"
        "\u03d9\u03d9\u03db\u03db\u03dd\u03dd\u03df\u03df\u03e1\u03e1\u03e3\u03e3\u03e5\u03e5"
        "\u03e7\u03e7\u03e9\u03e9\u03eb\u03eb\u03ed\u03ed\u03ef",
    ),
    (
        0x3F4,
        "\u03b8\u03f5\u03f6\u03f8\u03f8\u03f2\u03fb\u03fb\u03fc\u037b\u037c\u037d\u0435\u0435"
        "\u0452\u0433\u0454\u0455\u0456\u0456\u0458\u0459\u045a\u045b\u043a\u0438\u0443\u045f"
        "\u0430\u0431\u0432\u0433\u0434\u0435\u0436\u0437\u0438\u0438\u043a\u043b\u043c\u043d"
        "\u043e\u043f\u0440\u0441\u0442\u0443\u0444\u0445\u0446\u0447\u0448\u0449\u044a\u044b"
        "\u044c\u044d\u044e\u044f",
    ),
    (0x439, "\u0438"),
    (0x450, "\u0435\u0435\u0452\u0433\u0454\u0455\u0456\u0456"),
    (
        0x45C,
        "\u043a\u0438\u0443\u045f\u0461\u0461\u0463\u0463\u0465\u0465\u0467\u0467\u0469\u0469"
        "\u046b\u046b\u046d\u046d\u046f\u046f\u0471\u0471\u0473\u0473\u0475\u0475\u0475\u0475"
        "\u0479\u0479\u047b\u047b\u047d\u047d\u047f\u047f\u0481",
    ),
    (
        0x48A,
        "\u048b\u048b\u048d\u048d\u048f\u048f\u0491\u0491\u0493\u0493\u0495\u0495\u0497\u0497"
        "\u0499\u0499\u049b\u049b\u049d\u049d\u049f\u049f\u04a1\u04a1\u04a3\u04a3\u04a5\u04a5"
        "\u04a7\u04a7\u04a9\u04a9\u04ab\u04ab\u04ad\u04ad\u04af\u04af\u04b1\u04b1\u04b3\u04b3"
        "\u04b5\u04b5\u04b7\u04b7\u04b9\u04b9\u04bb\u04bb\u04bd\u04bd\u04bf\u04bf\u04cf\u0436"
        "\u0436\u04c4\u04c4\u04c6\u04c6\u04c8\u04c8\u04ca\u04ca\u04cc\u04cc\u04ce\u04ce\u04cf"
        "\u0430\u0430\u0430\u0430\u04d5\u04d5\u0435\u0435\u04d9\u04d9\u04d9\u04d9\u0436\u0436"
        "\u0437\u0437\u04e1\u04e1\u0438\u0438\u0438\u0438\u043e\u043e\u04e9\u04e9\u04e9\u04e9"
        "\u044d\u044d\u0443\u0443\u0443\u0443\u0443\u0443\u0447\u0447\u04f7\u04f7\u044b\u044b"
        "\u04fb\u04fb\u04fd\u04fd\u04ff\u04ff\u0501\u0501\u0503\u0503\u0505\u0505\u0507\u0507"
        "\u0509\u0509\u050b\u050b\u050d\u050d\u050f\u050f\u0511\u0511\u0513\u0513\u0515\u0515"
        "\u0517\u0517\u0519\u0519\u051b\u051b\u051d\u051d\u051f\u051f\u0521\u0521\u0523\u0523"
        "\u0525\u0525\u0527\u0527\u0529\u0529\u052b\u052b\u052d\u052d\u052f\u052f\u0530\u0561"
        "\u0562\u0563\u0564\u0565\u0566\u0567\u0568\u0569\u056a\u056b\u056c\u056d\u056e\u056f"
        "\u0570\u0571\u0572\u0573\u0574\u0575\u0576\u0577\u0578\u0579\u057a\u057b\u057c\u057d"
        "\u057e\u057f\u0580\u0581\u0582\u0583\u0584\u0585\u0586",
    ),
    (0x622, "\u0627\u0627\u0648\u0627\u064a"),
    (0x6C0, "\u06d5\u06c1\u06c1"),
    (0x6D3, "\u06d2"),
    (0x929, "\u0928"),
    (0x931, "\u0930\u0932\u0933\u0933"),
    (0x958, "\u0915\u0916\u0917\u091c\u0921\u0922\u092b\u092f"),
    (0x9DC, "\u09a1\u09a2\u09de\u09af"),
    (0xA33, "\u0a32\u0a34\u0a35\u0a38"),
    (0xA59, "\u0a16\u0a17\u0a1c\u0a5c\u0a5d\u0a2b"),
    (0xB5C, "\u0b21\u0b22"),
    (0xDDA, "\u0dd9"),
    (
        0x10A0,
        "\u2d00\u2d01\u2d02\u2d03\u2d04\u2d05\u2d06\u2d07\u2d08\u2d09\u2d0a\u2d0b\u2d0c\u2d0d"
        "\u2d0e\u2d0f\u2d10\u2d11\u2d12\u2d13\u2d14\u2d15\u2d16\u2d17\u2d18\u2d19\u2d1a\u2d1b"
        "\u2d1c\u2d1d\u2d1e\u2d1f\u2d20\u2d21\u2d22\u2d23\u2d24\u2d25\u10c6\u2d27",
    ),
    (0x10CD, "\u2d2d"),
    (
        0x13A0,
        "\uab70\uab71\uab72\uab73\uab74\uab75\uab76\uab77\uab78\uab79\uab7a\uab7b\uab7c\uab7d"
        "\uab7e\uab7f\uab80\uab81\uab82\uab83\uab84\uab85\uab86\uab87\uab88\uab89\uab8a\uab8b"
        "\uab8c\uab8d\uab8e\uab8f\uab90\uab91\uab92\uab93\uab94\uab95\uab96\uab97\uab98\uab99"
        "\uab9a\uab9b\uab9c\uab9d\uab9e\uab9f\uaba0\uaba1\uaba2\uaba3\uaba4\uaba5\uaba6\uaba7"
        "\uaba8\uaba9\uabaa\uabab\uabac\uabad\uabae\uabaf\uabb0\uabb1\uabb2\uabb3\uabb4\uabb5"
        "\uabb6\uabb7\uabb8\uabb9\uabba\uabbb\uabbc\uabbd\uabbe\uabbf\u13f8\u13f9\u13fa\u13fb"
        "\u13fc\u13fd",
    ),
    (0x1C89, "\u1c8a"),
    (
        0x1C90,
        "\u10d0\u10d1\u10d2\u10d3\u10d4\u10d5\u10d6\u10d7\u10d8\u10d9\u10da\u10db\u10dc\u10dd"
        "\u10de\u10df\u10e0\u10e1\u10e2\u10e3\u10e4\u10e5\u10e6\u10e7\u10e8\u10e9\u10ea\u10eb"
        "\u10ec\u10ed\u10ee\u10ef\u10f0\u10f1\u10f2\u10f3\u10f4\u10f5\u10f6\u10f7\u10f8\u10f9"
        "\u10fa\u1cbb\u1cbc\u10fd\u10fe\u10ff",
    ),
    (
        0x1E00,
        "aabbbbbbccddddddddddeeeeeeeeeeffgghhhhhhhhhhiiiikkkkkkllllllllmmmmmmnnnnnnnnoooooooopp"
        "pprrrrrrrrssssssssssttttttttuuuuuuuuuuvvvvwwwwwwwwwwxxxxyyzzzzzzhtwy\u1e9a\u017f\u1e9c"
        "\u1e9d\xdf\u1e9faaaaaaaaaaaaaaaaaaaaaaaaeeeeeeeeeeeeeeeeiiiioooooooooooooooooooooooouu"
        "uuuuuuuuuuuuyyyyyyyy\u1efb\u1efb\u1efd\u1efd\u1eff\u1eff\u03b1\u03b1\u03b1\u03b1\u03b1"
        "\u03b1\u03b1\u03b1\u03b1\u03b1\u03b1\u03b1\u03b1\u03b1\u03b1\u03b1\u03b5\u03b5\u03b5"
        "\u03b5\u03b5\u03b5\u1f16\u1f17\u03b5\u03b5\u03b5\u03b5\u03b5\u03b5\u1f1e\u1f1f\u03b7"
        "\u03b7\u03b7\u03b7\u03b7\u03b7\u03b7\u03b7\u03b7\u03b7\u03b7\u03b7\u03b7\u03b7\u03b7"
        "\u03b7\u03b9\u03b9\u03b9\u03b9\u03b9\u03b9\u03b9\u03b9\u03b9\u03b9\u03b9\u03b9\u03b9"
        "\u03b9\u03b9\u03b9\u03bf\u03bf\u03bf\u03bf\u03bf\u03bf\u1f46\u1f47\u03bf\u03bf\u03bf"
        "\u03bf\u03bf\u03bf\u1f4e\u1f4f\u03c5\u03c5\u03c5\u03c5\u03c5\u03c5\u03c5\u03c5\u1f58"
        "\u03c5\u1f5a\u03c5\u1f5c\u03c5\u1f5e\u03c5\u03c9\u03c9\u03c9\u03c9\u03c9\u03c9\u03c9"
        "\u03c9\u03c9\u03c9\u03c9\u03c9\u03c9\u03c9\u03c9\u03c9\u03b1\u03b1\u03b5\u03b5\u03b7"
        "\u03b7\u03b9\u03b9\u03bf\u03bf\u03c5\u03c5\u03c9\u03c9\u1f7e\u1f7f\u03b1\u03b1\u03b1"
        "\u03b1\u03b1\u03b1\u03b1\u03b1\u03b1\u03b1\u03b1\u03b1\u03b1\u03b1\u03b1\u03b1\u03b7"
        "\u03b7\u03b7\u03b7\u03b7\u03b7\u03b7\u03b7\u03b7\u03b7\u03b7\u03b7\u03b7\u03b7\u03b7"
        "\u03b7\u03c9\u03c9\u03c9\u03c9\u03c9\u03c9\u03c9\u03c9\u03c9\u03c9\u03c9\u03c9\u03c9"
        "\u03c9\u03c9\u03c9\u03b1\u03b1\u03b1\u03b1\u03b1\u1fb5\u03b1\u03b1\u03b1\u03b1\u03b1"
        "\u03b1\u03b1\u1fbd\u03b9\u1fbf\u1fc0\xa8\u03b7\u03b7\u03b7\u1fc5\u03b7\u03b7\u03b5"
        "\u03b5\u03b7\u03b7\u03b7\u1fbf\u1fbf\u1fbf\u03b9\u03b9\u03b9\u03b9\u1fd4\u1fd5\u03b9"
        "\u03b9\u03b9\u03b9\u03b9\u03b9\u1fdc\u1ffe\u1ffe\u1ffe\u03c5\u03c5\u03c5\u03c5\u03c1"
        "\u03c1\u03c5\u03c5\u03c5\u03c5\u03c5\u03c5\u03c1\xa8\xa8`\u1ff0\u1ff1\u03c9\u03c9"
        "\u03c9\u1ff5\u03c9\u03c9\u03bf\u03bf\u03c9\u03c9\u03c9\xb4",
    ),
    (0x2126, "\u03c9\u2127\u2128\u2129ka"),
    (0x2132, "\u214e"),
    (
        0x2160,
        "\u2170\u2171\u2172\u2173\u2174\u2175\u2176\u2177\u2178\u2179\u217a\u217b\u217c\u217d"
        "\u217e\u217f",
    ),
    (0x2183, "\u2184"),
    (0x219A, "\u2190\u2192"),
    (0x21AE, "\u2194"),
    (0x21CD, "\u21d0\u21d4\u21d2"),
    (0x2204, "\u2203"),
    (0x2209, "\u2208\u220a\u220b\u220b"),
    (0x2224, "\u2223\u2225\u2225"),
    (0x2241, "\u223c\u2242\u2243\u2243\u2245\u2246\u2245\u2248\u2248"),
    (0x2260, "=\u2261\u2261"),
    (0x226D, "\u224d<>\u2264\u2265\u2272\u2273\u2272\u2273\u2276\u2277\u2276\u2277"),
    (0x2280, "\u227a\u227b\u2282\u2283\u2282\u2283\u2286\u2287\u2286\u2287"),
    (0x22AC, "\u22a2\u22a8\u22a9\u22ab"),
    (0x22E0, "\u227c\u227d\u2291\u2292"),
    (0x22EA, "\u22b2\u22b3\u22b4\u22b5"),
    (0x2329, "\u3008\u3009"),
    (
        0x24B6,
        "\u24d0\u24d1\u24d2\u24d3\u24d4\u24d5\u24d6\u24d7\u24d8\u24d9\u24da\u24db\u24dc\u24dd"
        "\u24de\u24df\u24e0\u24e1\u24e2\u24e3\u24e4\u24e5\u24e6\u24e7\u24e8\u24e9",
    ),
    (0x2ADC, "\u2add"),
    (
        0x2C00,
        "\u2c30\u2c31\u2c32\u2c33\u2c34\u2c35\u2c36\u2c37\u2c38\u2c39\u2c3a\u2c3b\u2c3c\u2c3d"
        "\u2c3e\u2c3f\u2c40\u2c41\u2c42\u2c43\u2c44\u2c45\u2c46\u2c47\u2c48\u2c49\u2c4a\u2c4b"
        "\u2c4c\u2c4d\u2c4e\u2c4f\u2c50\u2c51\u2c52\u2c53\u2c54\u2c55\u2c56\u2c57\u2c58\u2c59"
        "\u2c5a\u2c5b\u2c5c\u2c5d\u2c5e\u2c5f",
    ),
    (
        0x2C60,
        "\u2c61\u2c61\u026b\u1d7d\u027d\u2c65\u2c66\u2c68\u2c68\u2c6a\u2c6a\u2c6c\u2c6c\u0251"
        "\u0271\u0250\u0252\u2c71\u2c73\u2c73\u2c74\u2c76",
    ),
    (
        0x2C7E,
        "\u023f\u0240\u2c81\u2c81\u2c83\u2c83\u2c85\u2c85\u2c87\u2c87\u2c89\u2c89\u2c8b\u2c8b"
        "\u2c8d\u2c8d\u2c8f\u2c8f\u2c91\u2c91\u2c93\u2c93\u2c95\u2c95\u2c97\u2c97\u2c99\u2c99"
        "\u2c9b\u2c9b\u2c9d\u2c9d\u2c9f\u2c9f\u2ca1\u2ca1\u2ca3\u2ca3\u2ca5\u2ca5\u2ca7\u2ca7"
        "\u2ca9\u2ca9\u2cab\u2cab\u2cad\u2cad\u2caf\u2caf\u2cb1\u2cb1\u2cb3\u2cb3\u2cb5\u2cb5"
        "\u2cb7\u2cb7\u2cb9\u2cb9\u2cbb\u2cbb\u2cbd\u2cbd\u2cbf\u2cbf\u2cc1\u2cc1\u2cc3\u2cc3"
        "\u2cc5\u2cc5\u2cc7\u2cc7\u2cc9\u2cc9\u2ccb\u2ccb\u2ccd\u2ccd\u2ccf\u2ccf\u2cd1\u2cd1"
        "\u2cd3\u2cd3\u2cd5\u2cd5\u2cd7\u2cd7\u2cd9\u2cd9\u2cdb\u2cdb\u2cdd\u2cdd\u2cdf\u2cdf"
        "\u2ce1\u2ce1\u2ce3",
    ),
    (0x2CEB, "\u2cec\u2cec\u2cee"),
    (0x2CF2, "\u2cf3"),
    (
        0x304C,
        "\u304b\u304d\u304d\u304f\u304f\u3051\u3051\u3053\u3053\u3055\u3055\u3057\u3057\u3059"
        "\u3059\u305b\u305b\u305d\u305d\u305f\u305f\u3061\u3061\u3063\u3064\u3064\u3066\u3066"
        "\u3068\u3068",
    ),
    (
        0x3070,
        "\u306f\u306f\u3072\u3072\u3072\u3075\u3075\u3075\u3078\u3078\u3078\u307b\u307b\u307b",
    ),
    (0x3094, "\u3046"),
    (0x309E, "\u309d"),
    (
        0x30AC,
        "\u30ab\u30ad\u30ad\u30af\u30af\u30b1\u30b1\u30b3\u30b3\u30b5\u30b5\u30b7\u30b7\u30b9"
        "\u30b9\u30bb\u30bb\u30bd\u30bd\u30bf\u30bf\u30c1\u30c1\u30c3\u30c4\u30c4\u30c6\u30c6"
        "\u30c8\u30c8",
    ),
    (
        0x30D0,
        "\u30cf\u30cf\u30d2\u30d2\u30d2\u30d5\u30d5\u30d5\u30d8\u30d8\u30d8\u30db\u30db\u30db",
    ),
    (0x30F4, "\u30a6\u30f5\u30f6\u30ef\u30f0\u30f1\u30f2\u30fb\u30fc\u30fd\u30fd"),
    (
        0xA640,
        "\ua641\ua641\ua643\ua643\ua645\ua645\ua647\ua647\ua649\ua649\ua64b\ua64b\ua64d\ua64d"
        "\ua64f\ua64f\ua651\ua651\ua653\ua653\ua655\ua655\ua657\ua657\ua659\ua659\ua65b\ua65b"
        "\ua65d\ua65d\ua65f\ua65f\ua661\ua661\ua663\ua663\ua665\ua665\ua667\ua667\ua669\ua669"
        "\ua66b\ua66b\ua66d",
    ),
    (
        0xA680,
        "\ua681\ua681\ua683\ua683\ua685\ua685\ua687\ua687\ua689\ua689\ua68b\ua68b\ua68d\ua68d"
        "\ua68f\ua68f\ua691\ua691\ua693\ua693\ua695\ua695\ua697\ua697\ua699\ua699\ua69b",
    ),
    (
        0xA722,
        "\ua723\ua723\ua725\ua725\ua727\ua727\ua729\ua729\ua72b\ua72b\ua72d\ua72d\ua72f\ua72f"
        "\ua730\ua731\ua733\ua733\ua735\ua735\ua737\ua737\ua739\ua739\ua73b\ua73b\ua73d\ua73d"
        "\ua73f\ua73f\ua741\ua741\ua743\ua743\ua745\ua745\ua747\ua747\ua749\ua749\ua74b\ua74b"
        "\ua74d\ua74d\ua74f\ua74f\ua751\ua751\ua753\ua753\ua755\ua755\ua757\ua757\ua759\ua759"
        "\ua75b\ua75b\ua75d\ua75d\ua75f\ua75f\ua761\ua761\ua763\ua763\ua765\ua765\ua767\ua767"
        "\ua769\ua769\ua76b\ua76b\ua76d\ua76d\ua76f",
    ),
    (
        0xA779,
        "\ua77a\ua77a\ua77c\ua77c\u1d79\ua77f\ua77f\ua781\ua781\ua783\ua783\ua785\ua785\ua787",
    ),
    (
        0xA78B,
        "\ua78c\ua78c\u0265\ua78e\ua78f\ua791\ua791\ua793\ua793\ua794\ua795\ua797\ua797\ua799"
        "\ua799\ua79b\ua79b\ua79d\ua79d\ua79f\ua79f\ua7a1\ua7a1\ua7a3\ua7a3\ua7a5\ua7a5\ua7a7"
        "\ua7a7\ua7a9\ua7a9\u0266\u025c\u0261\u026c\u026a\ua7af\u029e\u0287\u029d\uab53\ua7b5"
        "\ua7b5\ua7b7\ua7b7\ua7b9\ua7b9\ua7bb\ua7bb\ua7bd\ua7bd\ua7bf\ua7bf\ua7c1\ua7c1\ua7c3"
        "\ua7c3\ua794\u0282\u1d8e\ua7c8\ua7c8\ua7ca\ua7ca\u0264\ua7cd\ua7cd\ua7cf\ua7cf\ua7d1"
        "\ua7d1\ua7d3\ua7d3\ua7d5\ua7d5\ua7d7\ua7d7\ua7d9\ua7d9\ua7db\ua7db\u019b",
    ),
    (0xA7F5, "\ua7f6"),
    (
        0xF900,
        "\u8c48\u66f4\u8eca\u8cc8\u6ed1\u4e32\u53e5\u9f9c\u9f9c\u5951\u91d1\u5587\u5948\u61f6"
        "\u7669\u7f85\u863f\u87ba\u88f8\u908f\u6a02\u6d1b\u70d9\u73de\u843d\u916a\u99f1\u4e82"
        "\u5375\u6b04\u721b\u862d\u9e1e\u5d50\u6feb\u85cd\u8964\u62c9\u81d8\u881f\u5eca\u6717"
        "\u6d6a\u72fc\u90ce\u4f86\u51b7\u52de\u64c4\u6ad3\u7210\u76e7\u8001\u8606\u865c\u8def"
        "\u9732\u9b6f\u9dfa\u788c\u797f\u7da0\u83c9\u9304\u9e7f\u8ad6\u58df\u5f04\u7c60\u807e"
        "\u7262\u78ca\u8cc2\u96f7\u58d8\u5c62\u6a13\u6dda\u6f0f\u7d2f\u7e37\u964b\u52d2\u808b"
        "\u51dc\u51cc\u7a1c\u7dbe\u83f1\u9675\u8b80\u62cf\u6a02\u8afe\u4e39\u5be7\u6012\u7387"
        "\u7570\u5317\u78fb\u4fbf\u5fa9\u4e0d\u6ccc\u6578\u7d22\u53c3\u585e\u7701\u8449\u8aaa"
        "\u6bba\u8fb0\u6c88\u62fe\u82e5\u63a0\u7565\u4eae\u5169\u51c9\u6881\u7ce7\u826f\u8ad2"
        "\u91cf\u52f5\u5442\u5973\u5eec\u65c5\u6ffe\u792a\u95ad\u9a6a\u9e97\u9ece\u529b\u66c6"
        "\u6b77\u8f62\u5e74\u6190\u6200\u649a\u6f23\u7149\u7489\u79ca\u7df4\u806f\u8f26\u84ee"
        "\u9023\u934a\u5217\u52a3\u54bd\u70c8\u88c2\u8aaa\u5ec9\u5ff5\u637b\u6bae\u7c3e\u7375"
        "\u4ee4\u56f9\u5be7\u5dba\u601c\u73b2\u7469\u7f9a\u8046\u9234\u96f6\u9748\u9818\u4f8b"
        "\u79ae\u91b4\u96b8\u60e1\u4e86\u50da\u5bee\u5c3f\u6599\u6a02\u71ce\u7642\u84fc\u907c"
        "\u9f8d\u6688\u962e\u5289\u677b\u67f3\u6d41\u6e9c\u7409\u7559\u786b\u7d10\u985e\u516d"
        "\u622e\u9678\u502b\u5d19\u6dea\u8f2a\u5f8b\u6144\u6817\u7387\u9686\u5229\u540f\u5c65"
        "\u6613\u674e\u68a8\u6ce5\u7406\u75e2\u7f79\u88cf\u88e1\u91cc\u96e2\u533f\u6eba\u541d"
        "\u71d0\u7498\u85fa\u96a3\u9c57\u9e9f\u6797\u6dcb\u81e8\u7acb\u7b20\u7c92\u72c0\u7099"
        "\u8b58\u4ec0\u8336\u523a\u5207\u5ea6\u62d3\u7cd6\u5b85\u6d1e\u66b4\u8f3b\u884c\u964d"
        "\u898b\u5ed3\u5140\u55c0\ufa0e\ufa0f\u585a\ufa11\u6674\ufa13\ufa14\u51de\u732a\u76ca"
        "\u793c\u795e\u7965\u798f\u9756\u7cbe\u7fbd\ufa1f\u8612\ufa21\u8af8\ufa23\ufa24\u9038"
        "\u90fd\ufa27\ufa28\ufa29\u98ef\u98fc\u9928\u9db4\u90de\u96b7\u4fae\u50e7\u514d\u52c9"
        "\u52e4\u5351\u559d\u5606\u5668\u5840\u58a8\u5c64\u5c6e\u6094\u6168\u618e\u61f2\u654f"
        "\u65e2\u6691\u6885\u6d77\u6e1a\u6f22\u716e\u722b\u7422\u7891\u793e\u7949\u7948\u7950"
        "\u7956\u795d\u798d\u798e\u7a40\u7a81\u7bc0\u7df4\u7e09\u7e41\u7f72\u8005\u81ed\u8279"
        "\u8279\u8457\u8910\u8996\u8b01\u8b39\u8cd3\u8d08\u8fb6\u9038\u96e3\u97ff\u983b\u6075"
        "\U000242ee\u8218\ufa6e\ufa6f\u4e26\u51b5\u5168\u4f80\u5145\u5180\u52c7\u52fa\u559d"
        "\u5555\u5599\u55e2\u585a\u58b3\u5944\u5954\u5a62\u5b28\u5ed2\u5ed9\u5f69\u5fad\u60d8"
        "\u614e\u6108\u618e\u6160\u61f2\u6234\u63c4\u641c\u6452\u6556\u6674\u6717\u671b\u6756"
        "\u6b79\u6bba\u6d41\u6edb\u6ecb\u6f22\u701e\u716e\u77a7\u7235\u72af\u732a\u7471\u7506"
        "\u753b\u761d\u761f\u76ca\u76db\u76f4\u774a\u7740\u78cc\u7ab1\u7bc0\u7c7b\u7d5b\u7df4"
        "\u7f3e\u8005\u8352\u83ef\u8779\u8941\u8986\u8996\u8abf\u8af8\u8acb\u8b01\u8afe\u8aed"
        "\u8b39\u8b8a\u8d08\u8f38\u9072\u9199\u9276\u967c\u96e3\u9756\u97db\u97ff\u980b\u983b"
        "\u9b12\u9f9c\U0002284a\U00022844\U000233d5\u3b9d\u4018\u4039\U00025249\U00025cd0"
        "\U00027ed3\u9f43\u9f8e",
    ),
    (0xFB1D, "\u05d9\ufb1e\u05f2"),
    (
        0xFB2A,
        "\u05e9\u05e9\u05e9\u05e9\u05d0\u05d0\u05d0\u05d1\u05d2\u05d3\u05d4\u05d5\u05d6\ufb37"
        "\u05d8\u05d9\u05da\u05db\u05dc\ufb3d\u05de\ufb3f\u05e0\u05e1\ufb42\u05e3\u05e4\ufb45"
        "\u05e6\u05e7\u05e8\u05e9\u05ea\u05d5\u05d1\u05db\u05e4",
    ),
    (
        0xFF21,
        "\uff41\uff42\uff43\uff44\uff45\uff46\uff47\uff48\uff49\uff4a\uff4b\uff4c\uff4d\uff4e"
        "\uff4f\uff50\uff51\uff52\uff53\uff54\uff55\uff56\uff57\uff58\uff59\uff5a",
    ),
    (
        0x10400,
        "\U00010428\U00010429\U0001042a\U0001042b\U0001042c\U0001042d\U0001042e\U0001042f"
        "\U00010430\U00010431\U00010432\U00010433\U00010434\U00010435\U00010436\U00010437"
        "\U00010438\U00010439\U0001043a\U0001043b\U0001043c\U0001043d\U0001043e\U0001043f"
        "\U00010440\U00010441\U00010442\U00010443\U00010444\U00010445\U00010446\U00010447"
        "\U00010448\U00010449\U0001044a\U0001044b\U0001044c\U0001044d\U0001044e\U0001044f",
    ),
    (
        0x104B0,
        "\U000104d8\U000104d9\U000104da\U000104db\U000104dc\U000104dd\U000104de\U000104df"
        "\U000104e0\U000104e1\U000104e2\U000104e3\U000104e4\U000104e5\U000104e6\U000104e7"
        "\U000104e8\U000104e9\U000104ea\U000104eb\U000104ec\U000104ed\U000104ee\U000104ef"
        "\U000104f0\U000104f1\U000104f2\U000104f3\U000104f4\U000104f5\U000104f6\U000104f7"
        "\U000104f8\U000104f9\U000104fa\U000104fb",
    ),
    (
        0x10570,
        "\U00010597\U00010598\U00010599\U0001059a\U0001059b\U0001059c\U0001059d\U0001059e"
        "\U0001059f\U000105a0\U000105a1\U0001057b\U000105a3\U000105a4\U000105a5\U000105a6"
        "\U000105a7\U000105a8\U000105a9\U000105aa\U000105ab\U000105ac\U000105ad\U000105ae"
        "\U000105af\U000105b0\U000105b1\U0001058b\U000105b3\U000105b4\U000105b5\U000105b6"
        "\U000105b7\U000105b8\U000105b9\U00010593\U000105bb\U000105bc",
    ),
    (
        0x10C80,
        "\U00010cc0\U00010cc1\U00010cc2\U00010cc3\U00010cc4\U00010cc5\U00010cc6\U00010cc7"
        "\U00010cc8\U00010cc9\U00010cca\U00010ccb\U00010ccc\U00010ccd\U00010cce\U00010ccf"
        "\U00010cd0\U00010cd1\U00010cd2\U00010cd3\U00010cd4\U00010cd5\U00010cd6\U00010cd7"
        "\U00010cd8\U00010cd9\U00010cda\U00010cdb\U00010cdc\U00010cdd\U00010cde\U00010cdf"
        "\U00010ce0\U00010ce1\U00010ce2\U00010ce3\U00010ce4\U00010ce5\U00010ce6\U00010ce7"
        "\U00010ce8\U00010ce9\U00010cea\U00010ceb\U00010cec\U00010ced\U00010cee\U00010cef"
        "\U00010cf0\U00010cf1\U00010cf2",
    ),
    (
        0x10D50,
        "\U00010d70\U00010d71\U00010d72\U00010d73\U00010d74\U00010d75\U00010d76\U00010d77"
        "\U00010d78\U00010d79\U00010d7a\U00010d7b\U00010d7c\U00010d7d\U00010d7e\U00010d7f"
        "\U00010d80\U00010d81\U00010d82\U00010d83\U00010d84\U00010d85",
    ),
    (0x1109A, "\U00011099\U0001109b\U0001109b"),
    (0x110AB, "\U000110a5"),
    (
        0x118A0,
        "\U000118c0\U000118c1\U000118c2\U000118c3\U000118c4\U000118c5\U000118c6\U000118c7"
        "\U000118c8\U000118c9\U000118ca\U000118cb\U000118cc\U000118cd\U000118ce\U000118cf"
        "\U000118d0\U000118d1\U000118d2\U000118d3\U000118d4\U000118d5\U000118d6\U000118d7"
        "\U000118d8\U000118d9\U000118da\U000118db\U000118dc\U000118dd\U000118de\U000118df",
    ),
    (
        0x16E40,
        "\U00016e60\U00016e61\U00016e62\U00016e63\U00016e64\U00016e65\U00016e66\U00016e67"
        "\U00016e68\U00016e69\U00016e6a\U00016e6b\U00016e6c\U00016e6d\U00016e6e\U00016e6f"
        "\U00016e70\U00016e71\U00016e72\U00016e73\U00016e74\U00016e75\U00016e76\U00016e77"
        "\U00016e78\U00016e79\U00016e7a\U00016e7b\U00016e7c\U00016e7d\U00016e7e\U00016e7f",
    ),
    (
        0x16EA0,
        "\U00016ebb\U00016ebc\U00016ebd\U00016ebe\U00016ebf\U00016ec0\U00016ec1\U00016ec2"
        "\U00016ec3\U00016ec4\U00016ec5\U00016ec6\U00016ec7\U00016ec8\U00016ec9\U00016eca"
        "\U00016ecb\U00016ecc\U00016ecd\U00016ece\U00016ecf\U00016ed0\U00016ed1\U00016ed2"
        "\U00016ed3",
    ),
    (
        0x1E900,
        "\U0001e922\U0001e923\U0001e924\U0001e925\U0001e926\U0001e927\U0001e928\U0001e929"
        "\U0001e92a\U0001e92b\U0001e92c\U0001e92d\U0001e92e\U0001e92f\U0001e930\U0001e931"
        "\U0001e932\U0001e933\U0001e934\U0001e935\U0001e936\U0001e937\U0001e938\U0001e939"
        "\U0001e93a\U0001e93b\U0001e93c\U0001e93d\U0001e93e\U0001e93f\U0001e940\U0001e941"
        "\U0001e942\U0001e943",
    ),
    (
        0x2F800,
        "\u4e3d\u4e38\u4e41\U00020122\u4f60\u4fae\u4fbb\u5002\u507a\u5099\u50e7\u50cf\u349e"
        "\U0002063a\u514d\u5154\u5164\u5177\U0002051c\u34b9\u5167\u518d\U0002054b\u5197\u51a4"
        "\u4ecc\u51ac\u51b5\U000291df\u51f5\u5203\u34df\u523b\u5246\u5272\u5277\u3515\u52c7"
        "\u52c9\u52e4\u52fa\u5305\u5306\u5317\u5349\u5351\u535a\u5373\u537d\u537f\u537f\u537f"
        "\U00020a2c\u7070\u53ca\u53df\U00020b63\u53eb\u53f1\u5406\u549e\u5438\u5448\u5468\u54a2"
        "\u54f6\u5510\u5553\u5563\u5584\u5584\u5599\u55ab\u55b3\u55c2\u5716\u5606\u5717\u5651"
        "\u5674\u5207\u58ee\u57ce\u57f4\u580d\u578b\u5832\u5831\u58ac\U000214e4\u58f2\u58f7"
        "\u5906\u591a\u5922\u5962\U000216a8\U000216ea\u59ec\u5a1b\u5a27\u59d8\u5a66\u36ee\u36fc"
        "\u5b08\u5b3e\u5b3e\U000219c8\u5bc3\u5bd8\u5be7\u5bf3\U00021b18\u5bff\u5c06\u5f53\u5c22"
        "\u3781\u5c60\u5c6e\u5cc0\u5c8d\U00021de4\u5d43\U00021de6\u5d6e\u5d6b\u5d7c\u5de1\u5de2"
        "\u382f\u5dfd\u5e28\u5e3d\u5e69\u3862\U00022183\u387c\u5eb0\u5eb3\u5eb6\u5eca\U0002a392"
        "\u5efe\U00022331\U00022331\u8201\u5f22\u5f22\u38c7\U000232b8\U000261da\u5f62\u5f6b"
        "\u38e3\u5f9a\u5fcd\u5fd7\u5ff9\u6081\u393a\u391c\u6094\U000226d4\u60c7\u6148\u614c"
        "\u614e\u614c\u617a\u618e\u61b2\u61a4\u61af\u61de\u61f2\u61f6\u6210\u621b\u625d\u62b1"
        "\u62d4\u6350\U00022b0c\u633d\u62fc\u6368\u6383\u63e4\U00022bf1\u6422\u63c5\u63a9\u3a2e"
        "\u6469\u647e\u649d\u6477\u3a6c\u654f\u656c\U0002300a\u65e3\u66f8\u6649\u3b19\u6691"
        "\u3b08\u3ae4\u5192\u5195\u6700\u669c\u80ad\u43d9\u6717\u671b\u6721\u675e\u6753"
        "\U000233c3\u3b49\u67fa\u6785\u6852\u6885\U0002346d\u688e\u681f\u6914\u3b9d\u6942\u69a3"
        "\u69ea\u6aa8\U000236a3\u6adb\u3c18\u6b21\U000238a7\u6b54\u3c4e\u6b72\u6b9f\u6bba\u6bbb"
        "\U00023a8d\U00021d0b\U00023afa\u6c4e\U00023cbc\u6cbf\u6ccd\u6c67\u6d16\u6d3e\u6d77"
        "\u6d41\u6d69\u6d78\u6d85\U00023d1e\u6d34\u6e2f\u6e6e\u3d33\u6ecb\u6ec7\U00023ed1\u6df9"
        "\u6f6e\U00023f5e\U00023f8e\u6fc6\u7039\u701e\u701b\u3d96\u704a\u707d\u7077\u70ad"
        "\U00020525\u7145\U00024263\u719c\U000243ab\u7228\u7235\u7250\U00024608\u7280\u7295"
        "\U00024735\U00024814\u737a\u738b\u3eac\u73a5\u3eb8\u3eb8\u7447\u745c\u7471\u7485\u74ca"
        "\u3f1b\u7524\U00024c36\u753e\U00024c92\u7570\U0002219f\u7610\U00024fa1\U00024fb8"
        "\U00025044\u3ffc\u4008\u76f4\U000250f3\U000250f2\U00025119\U00025133\u771e\u771f\u771f"
        "\u774a\u4039\u778b\u4046\u4096\U0002541d\u784e\u788c\u78cc\u40e3\U00025626\u7956"
        "\U0002569a\U000256c5\u798f\u79eb\u412f\u7a40\u7a4a\u7a4f\U0002597c\U00025aa7\U00025aa7"
        "\u7aee\u4202\U00025bab\u7bc6\u7bc9\u4227\U00025c80\u7cd2\u42a0\u7ce8\u7ce3\u7d00"
        "\U00025f86\u7d63\u4301\u7dc7\u7e02\u7e45\u4334\U00026228\U00026247\u4359\U000262d9"
        "\u7f7a\U0002633e\u7f95\u7ffa\u8005\U000264da\U00026523\u8060\U000265a8\u8070\U0002335f"
        "\u43d5\u80b2\u8103\u440b\u813e\u5ab5\U000267a7\U000267b5\U00023393\U0002339c\u8201"
        "\u8204\u8f9e\u446b\u8291\u828b\u829d\u52b3\u82b1\u82b3\u82bd\u82e6\U00026b3c\u82e5"
        "\u831d\u8363\u83ad\u8323\u83bd\u83e7\u8457\u8353\u83ca\u83cc\u83dc\U00026c36\U00026d6b"
        "\U00026cd5\u452b\u84f1\u84f3\u8516\U000273ca\u8564\U00026f2c\u455d\u4561\U00026fb1"
        "\U000270d2\u456b\u8650\u865c\u8667\u8669\u86a9\u8688\u870e\u86e2\u8779\u8728\u876b"
        "\u8786\u45d7\u87e1\u8801\u45f9\u8860\u8863\U00027667\u88d7\u88de\u4635\u88fa\u34bb"
        "\U000278ae\U00027966\u46be\u46c7\u8aa0\u8aed\u8b8a\u8c55\U00027ca8\u8cab\u8cc1\u8d1b"
        "\u8d77\U00027f2f\U00020804\u8dcb\u8dbc\u8df0\U000208de\u8ed4\u8f38\U000285d2\U000285ed"
        "\u9094\u90f1\u9111\U0002872e\u911b\u9238\u92d7\u92d8\u927c\u93f9\u9415\U00028bfa\u958b"
        "\u4995\u95b7\U00028d77\u49e6\u96c3\u5db2\u9723\U00029145\U0002921a\u4a6e\u4a76\u97e0"
        "\U0002940a\u4ab2\U00029496\u980b\u980b\u9829\U000295b6\u98e2\u4b33\u9929\u99a7\u99c2"
        "\u99fe\u4bce\U00029b30\u9b12\u9c40\u9cfd\u4cce\u4ced\u9d67\U0002a0ce\u4cf8\U0002a105"
        "\U0002a20e\U0002a291\u9ebb\u4d56\u9ef9\u9efe\u9f05\u9f0f\u9f16\u9f3b\U0002a600",
    ),
)

# Replaced by several characters.
EXPANDED: dict[int, str] = {
    0x9CB: "\u09c7\u09be",
    0x9CC: "\u09c7\u09d7",
    0xB48: "\u0b47\x00",
    0xB4B: "\u0b47\u0b3e",
    0xB4C: "\u0b47\u0b57",
    0xB94: "\u0b92\u0bd7",
    0xBCA: "\u0bc6\u0bbe",
    0xBCB: "\u0bc7\u0bbe",
    0xBCC: "\u0bc6\u0bd7",
    0xCC0: "\x00\u0cd5",
    0xCC7: "\x00\u0cd5",
    0xCC8: "\x00\u0cd6",
    0xCCA: "\x00\u0cc2",
    0xCCB: "\x00\u0cc2\u0cd5",
    0xD4A: "\u0d46\u0d3e",
    0xD4B: "\u0d47\u0d3e",
    0xD4C: "\u0d46\u0d57",
    0xDDC: "\u0dd9\u0dcf",
    0xDDD: "\u0dd9\u0dcf",
    0xDDE: "\u0dd9\u0ddf",
    0xF43: "\u0f42\x00",
    0xF4D: "\u0f4c\x00",
    0xF52: "\u0f51\x00",
    0xF57: "\u0f56\x00",
    0xF5C: "\u0f5b\x00",
    0xF69: "\u0f40\x00",
    0xF93: "\x00\x00",
    0xF9D: "\x00\x00",
    0xFA2: "\x00\x00",
    0xFA7: "\x00\x00",
    0xFAC: "\x00\x00",
    0xFB9: "\x00\x00",
    0x1026: "\u1025\x00",
    0x1B06: "\u1b05\u1b35",
    0x1B08: "\u1b07\u1b35",
    0x1B0A: "\u1b09\u1b35",
    0x1B0C: "\u1b0b\u1b35",
    0x1B0E: "\u1b0d\u1b35",
    0x1B12: "\u1b11\u1b35",
    0x1B3B: "\x00\u1b35",
    0x1B3D: "\x00\u1b35",
    0x1B40: "\u1b3e\u1b35",
    0x1B41: "\u1b3f\u1b35",
    0x1B43: "\x00\u1b35",
    0x1112E: "\x00\x00",
    0x1112F: "\x00\x00",
    0x1134B: "\U00011347\U0001133e",
    0x1134C: "\U00011347\U00011357",
    0x114BB: "\U000114b9\x00",
    0x114BC: "\U000114b9\U000114b0",
    0x114BE: "\U000114b9\U000114bd",
    0x115BA: "\U000115b8\U000115af",
    0x115BB: "\U000115b9\U000115af",
    0x1D15E: "\U0001d157\U0001d165",
    0x1D15F: "\U0001d158\U0001d165",
    0x1D160: "\U0001d158\U0001d165\U0001d16e",
    0x1D161: "\U0001d158\U0001d165\U0001d16f",
    0x1D162: "\U0001d158\U0001d165\U0001d170",
    0x1D163: "\U0001d158\U0001d165\U0001d171",
    0x1D164: "\U0001d158\U0001d165\U0001d172",
    0x1D1BB: "\U0001d1b9\U0001d165",
    0x1D1BC: "\U0001d1ba\U0001d165",
    0x1D1BD: "\U0001d1b9\U0001d165\U0001d16e",
    0x1D1BE: "\U0001d1ba\U0001d165\U0001d16e",
    0x1D1BF: "\U0001d1b9\U0001d165\U0001d16f",
    0x1D1C0: "\U0001d1ba\U0001d165\U0001d16f",
}

# Marks that survive and move: within a run of them, an earlier group goes first.
MARKS: tuple[str, ...] = (
    "\U00011446\U0001e94a",
    "\u1b44\u1baa\u1bf2\u1bf3\ua953\ua9c0\U000111c0\U00011235\U0001134d\U00011442\U000116b6"
    "\U00011c3f",
    "\U0001d165\U0001d166\U0001d16e\U0001d16f\U0001d170\U0001d171\U0001d172",
    "\u302e\u302f",
    "\U0001d16d",
    "\u08d4\u08d5\u08d6\u08d7\u08d8\u08d9\u08da\u08db\u08dc\u08dd\u08de\u08df\u08e0\u08e1"
    "\u1dfb\U0001e000\U0001e001\U0001e002\U0001e003\U0001e004\U0001e005\U0001e006\U0001e008"
    "\U0001e009\U0001e00a\U0001e00b\U0001e00c\U0001e00d\U0001e00e\U0001e00f\U0001e010"
    "\U0001e011\U0001e012\U0001e013\U0001e014\U0001e015\U0001e016\U0001e017\U0001e018"
    "\U0001e01b\U0001e01c\U0001e01d\U0001e01e\U0001e01f\U0001e020\U0001e021\U0001e023"
    "\U0001e024\U0001e026\U0001e027\U0001e028\U0001e029\U0001e02a\U0001e944\U0001e945"
    "\U0001e946\U0001e947\U0001e948\U0001e949",
)
