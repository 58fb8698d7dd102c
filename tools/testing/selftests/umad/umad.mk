# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# kselftest's lib.mk for programs that share sources with those of this directory, which
# UMAD names. They are static, so that they run in a guest.
#
#	make OUTPUT=<dir> KSRC=<unpacked kernel source>
KSRC ?= $(error KSRC must name an unpacked kernel source tree)
UAPI := $(UMAD)/../../../../include/uapi/rdma

CFLAGS += -O2 -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -Wno-missing-field-initializers \
	-Wno-sign-compare -pthread -I$(UMAD) -I$(UAPI) -isystem $(KSRC)/tools/testing/selftests
LDFLAGS += -static
LOCAL_HDRS += $(wildcard $(UMAD)/*.h) $(wildcard $(UAPI)/*.h)

include $(KSRC)/tools/testing/selftests/lib.mk

# An object for each source, though many programs share it: ccache keeps no programs.
vpath %.c $(UMAD)
$(OUTPUT)/obj/%.o: %.c $(LOCAL_HDRS)
	@mkdir -p $(@D)
	$(COMPILE.c) -o $@ $<

$(TEST_GEN_PROGS) $(TEST_GEN_PROGS_EXTENDED): $(OUTPUT)/%: $(OUTPUT)/obj/%.o
	$(LINK.c) -o $@ $^ $(LDLIBS)

EXTRA_CLEAN += $(OUTPUT)/obj
.SECONDARY:
