/* hidden.h: characters that are not shown as they are. Made by ci/gen/hidden.py from loader/tables/hidden.toml. */
#ifndef LATEBIND_HIDDEN_H
#define LATEBIND_HIDDEN_H

#include <stdint.h>

static const uint32_t lb_hidden[][2] = {
    {0x0000, 0x001F},   /* C0 controls */
    {0x007F, 0x009F},   /* delete, C1 controls */
    {0x00AD, 0x00AD},   /* soft hyphen */
    {0x0600, 0x0605},   /* Arabic number signs */
    {0x061C, 0x061C},   /* Arabic letter mark: direction */
    {0x06DD, 0x06DD},   /* Arabic end of ayah */
    {0x070F, 0x070F},   /* Syriac abbreviation mark */
    {0x0890, 0x0891},   /* Arabic currency marks above */
    {0x08E2, 0x08E2},   /* Arabic disputed end of ayah */
    {0x180E, 0x180E},   /* Mongolian vowel separator */
    {0x200B, 0x200F},   /* zero width, direction marks */
    {0x2028, 0x202E},   /* line and paragraph separators, directions */
    {0x2060, 0x206F},   /* invisible operators, isolated directions */
    {0xFEFF, 0xFEFF},   /* byte order mark */
    {0xFFF0, 0xFFFB},   /* interlinear annotations */
    {0xFFFE, 0xFFFF},   /* no characters */
    {0x110BD, 0x110BD}, /* Kaithi number sign */
    {0x110CD, 0x110CD}, /* Kaithi number sign above */
    {0x13430, 0x1345F}, /* Egyptian hieroglyph format controls */
    {0x1BCA0, 0x1BCA3}, /* shorthand format controls */
    {0x1D173, 0x1D17A}, /* musical format controls */
    {0xE0000, 0xE0FFF}, /* tags */
};

#endif
