/* clang-format off */
#define _GNU_SOURCE
#include "libxml.h"
#include <libxml/parser.h>
#include <libxml/parserInternals.h>
#include <libxml/HTMLparser.h>
#include <libxml/HTMLtree.h>
#include <libxml/SAX.h>
#include <libxml/catalog.h>
#include <libxml/chvalid.h>
#include <libxml/debugXML.h>
#include <libxml/globals.h>
#include <libxml/xpathInternals.h>
#include <libxml/xmlIO.h>
#include <libxml/xmlerror.h>
#include <libxml/xmlsave.h>
#include <dlfcn.h>
#define IMV(v) (*(__typeof__(v)*)dlsym(dlopen("libxml2.so.2", RTLD_LAZY), #v))
#define xmlFree IMV(xmlFree)
#define xmlMalloc IMV(xmlMalloc)
#define xmlRealloc IMV(xmlRealloc)
#define xmlXPathNAN IMV(xmlXPathNAN)
