"""The mutation audit: do a problem's tests notice when its reference is wrong?"""
